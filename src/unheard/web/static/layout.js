/** What the columns of a table mean: guessed by the server, changed by the reader. */

import { el, fillOptions, fillTable } from "./dom.js";
import { Mistake, writePlural, writeWhole } from "./numbers.js";

const NUMBERS = ["whole", "real", "single"];
const NONE = ["", "choose a column"];
const UNKNOWN = ["", "not known"];
const ONE = ["", "one"];
const SHAPES = [
  ["rating", "a rating"],
  ["counts", "an item with its counts"],
];
/** Arguments that are set here. */
const ARGUMENTS = [
  ...["item", "rating", "labels", "frequency", "counts", "scale", "n", "n_column", "bad_n"],
  ...["nulls", "off_scale", "max_dropped"],
];

/**
 * Lay out the questions about a table.
 * @param {HTMLElement} box
 * @param {{source: {name: string}, found: any, options: any}} table  With what the server found in it.
 * @param {() => void} changed
 * @returns {{read: () => Record<string, string>, reveal: (argument: string) => void}} which reads the
 *   layout as the server's query states it, and shows the controls if one of them is at fault
 */
export function layOutColumns(box, { source, found, options }, changed) {
  const { rows, columns, guess } = found;
  const names = columns.map((one) => one.name);
  const numeric = columns.filter((one) => NUMBERS.includes(one.kind)).map((one) => one.name);
  const repeat = (list) => list.map((name) => [name, name]);

  const shape = makeSelect("Each row is", SHAPES, guess.counts.length ? "counts" : "rating");
  const item = makeSelect(options.item.label, [NONE, ...repeat(names)], guess.item[0] ?? "");
  const rating = makeSelect(options.rating.label, [NONE, ...repeat(names)], guess.rating ?? "");
  const countable = [...guess.counts, ...numeric.filter((name) => !guess.counts.includes(name))];
  const counts = makeCheckboxes(options.counts.label, countable, guess.counts);
  // Words that somebody explains say what the scale is.
  const scale = makeField(options.scale.label, guess.scale ?? (isText(columns, guess.rating) ? "" : "1:5"));
  const guessed = el("small", { id: `${scale.input.id}-guessed` }, describeGuess(columns, guess));
  const labels = makeField(options.labels.label, "");
  const words = el("div", { class: "wide" });
  scale.row.append(guessed);
  scale.input.setAttribute("aria-describedby", guessed.id);
  const frequency = makeSelect(options.frequency.label, [ONE, ...repeat(numeric)], guess.frequency ?? "");
  const people = makeSelect(options.n_column.label, [UNKNOWN, ...repeat(numeric)], guess.n_column ?? "");
  const [nulls, offScale, badN] = [options.nulls, options.off_scale, options.bad_n].map(
    ({ label, choices }) => makeSelect(label, Object.entries(choices), "refuse"),
  );
  const maxDropped = makeField(options.max_dropped.label, "0.5");
  const chosen = el("span", { class: "hint" });
  const size = `${writePlural(rows, "row")}, ${writePlural(columns.length, "column")}`;
  const summary = el("summary", {}, el("strong", {}, source.name), ` · ${size} `, chosen);
  const controls = [shape, item, rating, labels, frequency, scale, people, badN, nulls, offScale, maxDropped];
  const row = el("div", { class: "fields" }, ...controls.map((one) => one.row));
  const preview = makePreview(found, () => [
    [item.label, [item.value()]],
    ...(shape.input.value === "counts" ? [[counts.label, counts.chosen()]] : [[rating.label, [rating.value()]], [frequency.label, [frequency.value()]]]),
    [people.label, [people.value()]],
  ]);
  const details = el("details", {}, summary, row, counts.row, words, preview.box);

  function show() {
    const byCounts = shape.input.value === "counts";
    counts.row.hidden = !byCounts;
    for (const one of [rating, frequency, nulls, offScale]) one.row.hidden = byCounts;
    const readings = byCounts ? [] : listReadings(columns, rating.value());
    labels.row.hidden = byCounts || !(isText(columns, rating.value()) || labels.value());
    words.hidden = !readings.length;
    badN.row.hidden = !people.value();
    maxDropped.row.hidden = byCounts || ![nulls, offScale].some((one) => one.value() === "drop");
    const isGuess = rating.input.value === guess.rating && scale.input.value === guess.scale;
    guessed.hidden = byCounts || !isGuess;
    const many = byCounts || !frequency.value() ? [] : [frequency];
    const listed = [item, byCounts ? counts : rating, ...many, scale, people];
    const mark = (one) => (one === scale && !guessed.hidden ? " (guessed)" : "");
    const texts = listed.map((one) => `${one.label}: ${one.value() || "–"}${mark(one)}`);
    chosen.textContent = texts.join(" · ");
    preview.show();
  }

  function settle() {
    show();
    changed();
  }

  /** Show how the words of the chosen column may be read, to be accepted. */
  function offerReadings() {
    const readings = listReadings(columns, rating.value());
    labels.input.value = "";
    if (readings.length) details.open = true;
    const accept = (reading) => {
      labels.input.value = reading.labels;
      scale.input.value = reading.scale;
      settle();
    };
    words.replaceChildren(...readings.map((reading, at) => makeReading(reading, at, accept)));
  }

  box.replaceChildren(details);
  box.hidden = false;
  offerReadings();
  show();
  rating.input.addEventListener("change", offerReadings);
  // Typing has asked already: leaving the field changes nothing.
  details.onchange = ({ target }) => target.type !== "text" && settle();
  for (const one of [scale, labels, maxDropped]) one.input.addEventListener("input", settle);

  return {
    reveal: (argument) => (details.open ||= ARGUMENTS.includes(argument)),
    read() {
      const byCounts = shape.input.value === "counts";
      const missing = [item, ...(byCounts ? [] : [rating])].find((one) => !one.value());
      if (missing) {
        details.open = true;
        throw new Mistake(`Choose the column for “${missing.label}”.`);
      }
      const common = {
        item: quote(item.value()),
        scale: scale.value().trim(),
        n_column: people.value(),
        ...(people.value() ? { bad_n: badN.value() } : {}),
      };
      if (byCounts) return { ...common, counts: counts.chosen().map(quote).join() };
      const rest = { nulls: nulls.value(), off_scale: offScale.value() };
      if (frequency.value()) rest.frequency = frequency.value();
      if (labels.value().trim()) rest.labels = labels.value().trim();
      if (!maxDropped.row.hidden) rest.max_dropped = maxDropped.value().trim();
      return { ...common, rating: quote(rating.value()), ...rest };
    },
  };
}

function isText(columns, name) {
  return columns.find((one) => one.name === name)?.kind === "text";
}

function listReadings(columns, name) {
  return columns.find((one) => one.name === name)?.readings ?? [];
}

/** A way to read words as ratings, with a button to accept it. */
function makeReading(reading, at, accept) {
  const id = `reading-${at}`;
  const rows = reading.words.map(({ word, value, count, recognised }) => [
    word,
    value !== null ? String(value) : recognised ? "no rating" : "not recognised",
    writeWhole(count),
  ]);
  const table = el("table");
  fillTable(table, id, "These words may be read as ratings", ["Word", "Rating", "Times"], rows);
  const use = el("button", { type: "button", onclick: () => accept(reading) }, "Read them like this");
  return el("div", { role: "region", "aria-labelledby": id }, table, use);
}

/** Say what the scale was guessed from, or what is not sure. */
function describeGuess(columns, { rating, scale, doubt }) {
  const found = columns.find((one) => one.name === rating);
  if (!found || found.least === null) return doubt ?? "";
  if (doubt && found.least >= 1 && found.greatest <= 5 && scale !== "1:5") return `guessed from values of ${found.least} to ${found.greatest}: nobody used the ends of 1 to 5; change it if the scale is longer`;
  return `guessed from values of ${found.least} to ${found.greatest}; change it if the scale is longer`;
}

let made = 0;

function makeControl(label, input) {
  input.id = `layout-${(made += 1)}`;
  const row = el("div", { class: "field" }, el("label", { for: input.id }, label), input);
  return { label, input, row, value: () => input.value };
}

function makeSelect(label, options, chosen) {
  const input = el("select");
  fillOptions(input, options, chosen);
  return makeControl(label, input);
}

function makeField(label, value) {
  const input = el("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  input.value = value;
  return makeControl(label, input);
}

function makeCheckboxes(label, names, chosen) {
  const boxes = names.map((name) => {
    const input = el("input", { type: "checkbox" });
    input.checked = chosen.includes(name);
    return { name, input, label: el("label", {}, input, ` ${name}`) };
  });
  const read = () => boxes.filter((one) => one.input.checked).map((one) => one.name);
  const hint = el("span", { class: "hint" }, "columns, lowest rating first; rows of an item are added up");
  const legend = el("legend", {}, `${label} `, hint);
  const row = el("fieldset", { class: "choices across" }, legend, ...boxes.map((one) => one.label));
  return { label, row, chosen: read, value: () => read().join(", ") };
}

/**
 * A look at the columns: what each is used for, what it holds, and a few rows.
 * @param {any} found  What the server found in the table.
 * @param {() => [string, string[]][]} readUses  Lists uses, each with its columns.
 */
function makePreview({ columns, head }, readUses) {
  const table = el("table");
  const heads = ["Column", "Used as", "Type", "Distinct values", "Empty"];
  const rows = head.map((_, at) => `Row ${at + 1}`);

  function show() {
    const uses = readUses();
    const lines = columns.map((one, place) => {
      const used = uses.filter(([, names]) => names.includes(one.name)).map(([use]) => use);
      const numbers = [writeWhole(one.distinct), writeWhole(one.missing)];
      return [one.name, used.join(", ") || "–", one.kind, ...numbers, ...head.map((row) => row[place] ?? "")];
    });
    fillTable(table, "columns-caption", "Columns", [...heads, ...rows], lines);
  }

  const region = { class: "wide", role: "region", tabindex: "0", "aria-labelledby": "columns-caption" };
  return { box: el("div", region, table), show };
}

/** Write a name as comma-separated lists require it. */
function quote(name) {
  return /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
