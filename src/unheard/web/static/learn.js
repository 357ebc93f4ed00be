/** Learn participation from a table: from reminders, or as a suggestion from response rates. */

import { onPress } from "./answer.js";
import { send } from "./api.js";
import { showAssumption } from "./assumption.js";
import { drawTableChart } from "./charts.js";
import { byId, el, fillNotes, fillOptions, fillParagraphs } from "./dom.js";
import { Mistake } from "./numbers.js";
import { state } from "./state.js";

const MEANS =
  "If people were reminded, choose the column that says which request each response followed. " +
  "Without reminders, the response rates of 30 items or more may suggest who responds less often; " +
  "that requires the number of people of each item.";

/** Columns that are probably the number of the request. */
const REQUEST = /^(request|wave|reminder|mailing)/i;

/** Below this, q says next to nothing. */
const LEAST_Q = 0.001;

let redraw = () => {};
document.addEventListener("themechange", () => redraw());

/**
 * Add the question what a table says about participation.
 * @param {HTMLElement} box
 * @param {{type: string, body: Blob}} source
 * @param {{columns: {name: string}[]}} found  What the server found in the table.
 * @param {Record<string, {label: string}>} options
 * @param {{read: () => Record<string, string>}} layout
 * @param {() => void} changed
 */
export function addLearning(box, { source, found, options, layout }, changed) {
  const names = found.columns.map(({ name }) => name);
  const wave = el("select", { id: "learn-wave" });
  const columns = names.map((name) => [name, name]);
  fillOptions(wave, [["", "no reminders"], ...columns], names.find((name) => REQUEST.test(name)) ?? "");
  const label = el("label", { for: "learn-wave" }, options.wave.label);
  const press = el("button", { type: "button", id: "learn" }, "Learn from this table");
  const problem = el("p", { class: "problem", role: "alert", id: "learn-problem" });
  const answer = el("div", { class: "learned", id: "learned", "aria-live": "polite" });
  const fields = el("div", { class: "fields" }, el("div", { class: "field" }, label, wave), press);
  const summary = el("summary", {}, "Which q? Learn it from this table");
  const hint = el("p", { class: "hint" }, MEANS);
  box.replaceChildren(el("details", { id: "learning" }, summary, hint, fields, problem, answer));

  function forget() {
    redraw = () => {};
    answer.replaceChildren();
  }

  // What was learned from other columns does not hold for these.
  wave.addEventListener("change", forget);
  byId("table-layout").onchange = ({ target }) => target.closest("details") && forget();
  onPress(press, problem, async () => {
    forget();
    const settings = { type: source.type, body: source.body, query: readQuestion() };
    answer.append(el("p", { class: "hint" }, "Learning …"));
    try {
      const learned = await (await send("calibrate", settings)).json();
      showLearned(answer, learned, changed);
      redraw = () => drawTableChart(answer.querySelector(".chart"), "calibrate/chart", settings);
    } catch (error) {
      forget();
      throw error;
    }
    await redraw();
  });

  function readQuestion() {
    const asked = layout.read();
    if (wave.value) return { ...asked, wave: wave.value };
    if (asked.n_column) return { ...asked, across_items: true };
    throw new Mistake(`Choose the column for “${options.wave.label}”, or for “${options.n_column.label}”.`);
  }
}

/** Show what was learned, with a button that assumes it. */
function showLearned(box, learned, changed) {
  const text = el("div");
  fillParagraphs(text, learned.sentences);
  const warnings = el("ul", { class: "notes" });
  fillNotes(warnings, [...learned.warnings, ...(learned.messages ?? [])]);
  box.replaceChildren(text, warnings, el("div", { class: "chart" }), offerUse(learned, changed));
}

function offerUse(learned, changed) {
  // A model that the responses contradict, or a q that rules out nothing, is not to be used.
  if (learned.source === "waves" && learned.warnings.length) return "";
  if (learned.q_lower < LEAST_Q) return el("p", {}, "This is too uncertain to be assumed.");
  const q = writeRoundedDown(learned.q_lower);
  const use = el("button", { type: "button", id: "learn-use" }, `Assume q = ${q}`);
  use.addEventListener("click", () => {
    Object.assign(state, { q, quiet: learned.quiet, floor: "" });
    showAssumption();
    changed();
  });
  const hint = el("span", { class: "hint" }, "the smallest q that is not ruled out, and the direction");
  return el("p", { class: "use" }, use, " ", hint);
}

/** Write three digits of a q, rounded down: no less is allowed for than was found. */
function writeRoundedDown(q) {
  const step = 10 ** (Math.floor(Math.log10(q)) - 2);
  return String(Number((Math.floor(q / step) * step).toPrecision(3)));
}
