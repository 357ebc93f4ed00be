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

/** Load Vega, once; begun early, as it is large. */
export function loadVega() {
  library ??= import("./vega.js").then(() => window.vegaEmbed);
  library.catch(() => (library = null)); // tried again next time
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
 * Draw the chart that answers a question, or say in its box why that cannot be done.
 * @param {HTMLElement} box
 * @param {string} path
 * @param {object} question
 * @param {AbortSignal} signal
 */
export function drawChart(box, path, question, signal) {
  return drawInto(box, () => post(path, question, { signal, query: look(box) }));
}

/** The same for a chart about a table, which is the body of the request. */
export function drawTableChart(box, path, { query, ...settings }) {
  return drawInto(box, () => send(path, { ...settings, query: { ...query, ...look(box) } }));
}

async function drawInto(box, request) {
  try {
    const [response, embed] = await Promise.all([request(), loadVega()]);
    await draw(box, await response.json(), embed);
  } catch (error) {
    if (isAbort(error)) return;
    box.replaceChildren(el("p", { class: "hint" }, `No picture: ${error.message}`));
  }
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
