/** What the columns of a table mean: guessed by the server, settled by the reader. */

import { el, fillOptions, fillTable } from "./dom.js";
import { plural, wholeText } from "./numbers.js";
import { NULLS, OFF_SCALE } from "./wording.js";

const NUMBERS = ["whole", "real", "single"];
const COUNTS = "Columns of counts, lowest rating first (rows of one item are added up)";
const SHAPES = [
  ["rating", "one rating"],
  ["counts", "an item with its counts"],
];

/**
 * Lay out the questions about a table.
 * @param {HTMLElement} box
 * @param {{name: string}} source
 * @param {any} inspected  What the server found in the table.
 * @param {() => void} changed
 * @returns {() => Record<string, string>} the layout chosen, as the server's query states it
 */
export function layColumns(box, source, { rows, columns, guess }, changed) {
  const names = columns.map((one) => one.name);
  const numeric = columns.filter((one) => NUMBERS.includes(one.kind)).map((one) => one.name);
  const same = (list) => list.map((name) => [name, name]);

  const shape = select("Each row is", SHAPES, guess.counts.length ? "counts" : "rating");
  const item = select("Item", same(names), guess.item[0] ?? names[0]);
  const rating = select("Rating", same(names), guess.rating ?? numeric[0] ?? names[0]);
  const countable = [...guess.counts, ...numeric.filter((name) => !guess.counts.includes(name))];
  const counts = checkboxes(COUNTS, countable, guess.counts);
  const scale = field("Scale", guess.scale ?? "1:5");
  const guessed = el("small", { id: `${scale.input.id}-guessed` }, guessText(columns, guess));
  scale.row.append(guessed);
  scale.input.setAttribute("aria-describedby", guessed.id);
  const unknown = ["", "not known"];
  const people = select("People in all", [unknown, ...same(numeric)], guess.n_column ?? "");
  const nulls = select(NULLS.label, NULLS.choices, "refuse");
  const offScale = select(OFF_SCALE.label, OFF_SCALE.choices, "refuse");

  function showShape() {
    const byCounts = shape.input.value === "counts";
    counts.row.hidden = !byCounts;
    for (const one of [rating, nulls, offScale]) one.row.hidden = byCounts;
    const isGuess = rating.input.value === guess.rating && scale.input.value === guess.scale;
    guessed.hidden = byCounts || !isGuess;
  }

  const size = `${plural(rows, "row")}, ${plural(columns.length, "column")}`;
  const rowsOf = [shape, item, rating, scale, people, nulls, offScale].map((one) => one.row);
  box.replaceChildren(
    el("p", { class: "source-name" }, el("strong", {}, source.name), ` · ${size}`),
    el("div", { class: "fields" }, ...rowsOf),
    counts.row,
    preview(columns),
  );
  box.hidden = false;
  showShape();
  function settle() {
    showShape();
    changed();
  }
  // What is typed was asked when it was typed: to leave the field changes nothing.
  box.onchange = ({ target }) => target.type !== "text" && settle();
  scale.input.addEventListener("input", settle);

  return () => {
    const common = {
      item: quoted(item.input.value),
      scale: scale.input.value.trim(),
      n_column: people.input.value,
    };
    if (shape.input.value === "counts") {
      return { ...common, counts: counts.chosen().map(quoted).join() };
    }
    return {
      ...common,
      rating: quoted(rating.input.value),
      nulls: nulls.input.value,
      off_scale: offScale.input.value,
    };
  };
}

/** Say that the scale is a guess, and from what. */
function guessText(columns, { rating }) {
  const found = columns.find((one) => one.name === rating);
  if (!found) return "";
  const values = `${found.least} to ${found.greatest}`;
  return `guessed from the values found: ${values}; change it if the scale is longer`;
}

let made = 0;

function select(words, options, chosen) {
  const id = `layout-${(made += 1)}`;
  const input = el("select", { id });
  fillOptions(input, options, chosen ?? options[0][0]);
  return { input, row: el("div", { class: "field" }, el("label", { for: id }, words), input) };
}

function field(words, value) {
  const id = `layout-${(made += 1)}`;
  const input = el("input", { type: "text", id, autocomplete: "off", spellcheck: "false" });
  input.value = value;
  return { input, row: el("div", { class: "field" }, el("label", { for: id }, words), input) };
}

function checkboxes(words, names, chosen) {
  const boxes = names.map((name) => {
    const input = el("input", { type: "checkbox" });
    input.checked = chosen.includes(name);
    return { name, input, label: el("label", {}, input, ` ${name}`) };
  });
  const labels = boxes.map((one) => one.label);
  return {
    row: el("fieldset", { class: "choices across" }, el("legend", {}, words), ...labels),
    chosen: () => boxes.filter((one) => one.input.checked).map((one) => one.name),
  };
}

/** A look at the columns, so that the reader can tell what they hold. */
function preview(columns) {
  const rows = columns.map((one) => {
    const examples = [...new Set(one.examples)].join(", ");
    return [one.name, one.kind, wholeText(one.distinct), wholeText(one.missing), examples];
  });
  const table = el("table");
  const heads = ["Column", "Kind", "Different values", "Empty", "Examples"];
  fillTable(table, "columns-caption", "Columns", heads, rows);
  const region = { class: "wide", role: "region", tabindex: "0", "aria-labelledby": "columns-caption" };
  return el("details", {}, el("summary", {}, "What is in the columns"), el("div", region, table));
}

/** A name as lists with commas need it. */
function quoted(name) {
  return /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
