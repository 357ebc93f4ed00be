/** Pictures: the server describes them in Vega-Lite, the browser draws them. */

import { isAbort, post, send } from "./api.js";
import { el } from "./dom.js";

// Without evaluated code or inline styles, which the page's security policy forbids.
const OPTIONS = {
  ast: true,
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

const NARROWEST = 280;

let library = null;

/** Load Vega once. */
function loadVega() {
  library ??= import("./vega.js").then(() => window.vegaEmbed);
  library.catch(() => (library = null));
  return library;
}

/** The look that charts must have now. */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** What a chart must be told to fit into a box. */
function look(box) {
  return { theme: theme(), width: Math.max(NARROWEST, Math.floor(box.clientWidth)) };
}

/**
 * Ask for the chart that answers a question, and draw it when `first` is done.
 * @param {HTMLElement} box
 * @param {string} path
 * @param {object} question
 * @param {AbortSignal} signal
 * @returns {() => Promise<void>} draws it, or says in the box why it cannot
 */
export function chartOf(box, path, question, signal) {
  loadVega();
  return drawing(box, post(path, question, { signal, query: look(box) }));
}

/** The same for a chart about a table, which is the body of the request. */
export function chartOfTable(box, path, { query, ...settings }) {
  loadVega();
  return drawing(box, send(path, { ...settings, query: { ...query, ...look(box) } }));
}

function drawing(box, response) {
  const spec = response.then((answer) => answer.json());
  spec.catch(() => {}); // dealt with when it is drawn
  return async () => {
    try {
      await draw(box, await spec, await loadVega());
    } catch (error) {
      if (isAbort(error)) return;
      box.replaceChildren(el("p", { class: "hint" }, `No picture: ${error.message}`));
    }
  };
}

const views = new WeakMap();

/** Draw out of sight, then change places with the last picture, so that nothing flickers. */
async function draw(box, spec, embed) {
  const fresh = el("div", { class: "drawing unseen" });
  box.append(fresh);
  const drawn = await embed(fresh, { ...spec, background: "transparent" }, OPTIONS);
  views.get(box)?.finalize();
  views.set(box, drawn);
  box.replaceChildren(fresh);
  fresh.classList.remove("unseen");
  // One picture with one description, instead of hundreds of marks to walk through.
  fresh.removeAttribute("aria-roledescription");
  fresh.setAttribute("role", "img");
  fresh.setAttribute("aria-label", spec.description);
  fresh.querySelector("svg").setAttribute("aria-hidden", "true");
  box.dataset.theme = theme();
}
