/** Charts: the server describes them in Vega-Lite, the browser draws them. */

import { isAbort, post, send } from "./api.js";
import { byId, el } from "./dom.js";
import { save } from "./downloads.js";
import { Mistake } from "./numbers.js";

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

/** Refuse to draw on a server without the libraries for it; the page says above what to install. */
export function requireCharts() {
  const missing = byId("no-charts");
  if (missing) throw new Mistake(missing.textContent);
}

/** Save the chart that answers a question as a picture. */
export async function saveChart(path, question, name) {
  requireCharts();
  const query = { format: "png", theme: chooseTheme() };
  save(await (await post(path, question, { query })).blob(), name);
}

/** Load Vega, once; begun early, as it is large. */
export function loadVega() {
  if (byId("no-charts")) return null;
  library ??= import("./vega.js").then(() => window.vegaEmbed);
  library.catch(() => (library = null)); // tried again next time
  return library;
}

/** The theme that charts must have now. */
export function chooseTheme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** The settings with which a chart fits into a box. */
function fitChart(box) {
  return { theme: chooseTheme(), width: Math.max(NARROWEST, Math.floor(box.clientWidth)) };
}

/**
 * Draw the chart that answers a question, or say in its box why that fails.
 * @param {HTMLElement} box
 * @param {string} path
 * @param {object} question
 * @param {AbortSignal} signal
 */
export function drawChart(box, path, question, signal) {
  return drawInto(box, () => post(path, question, { signal, query: fitChart(box) }));
}

/** Draw a chart about a table, which is the body of the request. */
export function drawTableChart(box, path, { query, ...settings }) {
  return drawInto(box, () => send(path, { ...settings, query: { ...query, ...fitChart(box) } }));
}

async function drawInto(box, request) {
  if ((box.hidden = byId("no-charts") !== null)) return;
  try {
    const [response, embed] = await Promise.all([request(), loadVega()]);
    await draw(box, await response.json(), embed);
  } catch (error) {
    if (isAbort(error)) return;
    box.replaceChildren(el("p", { class: "hint" }, `The chart could not be drawn. ${error.message}`));
  }
}

const views = new WeakMap();

/** Draw out of sight, then replace the last chart, so that nothing flickers. */
async function draw(box, spec, embed) {
  const fresh = el("div", { class: "drawing unseen" });
  box.append(fresh);
  const view = await embed(fresh, { ...spec, background: "transparent" }, OPTIONS);
  views.get(box)?.finalize();
  views.set(box, view);
  box.replaceChildren(fresh);
  fresh.classList.remove("unseen");
  // One image with one description, instead of hundreds of marks for a screen reader.
  fresh.removeAttribute("aria-roledescription");
  fresh.setAttribute("role", "img");
  fresh.setAttribute("aria-label", spec.description);
  fresh.querySelector("svg").setAttribute("aria-hidden", "true");
  box.dataset.theme = chooseTheme();
}
