/** How a file is read, where the server cannot tell or the reader knows better. */

import { el, fillOptions } from "./dom.js";

const ENCODINGS = ["utf-8", "utf-16", "cp1252", "cp1251", "cp850", "shift_jis", "gb18030"];

/**
 * What is said about a file, as the server's query states it; nothing about a new one.
 * @typedef {{sheet: string, encoding: string, header: string}} Reading
 */

/** @returns {Reading} */
export function makeReading() {
  return { sheet: "", encoding: "", header: "" };
}

/**
 * Say what there is to choose when the server asks how to read a file.
 * @param {{code: string, examples: string[]}} error
 */
export function findChoices({ code, examples }) {
  if (code === "several_sheets") return { sheets: examples };
  return code?.endsWith("_encoding") ? { encoding: "" } : null;
}

/**
 * Offer a choice of the sheet, if there are several, and of the encoding, if it is not UTF-8.
 * @param {HTMLElement} box
 * @param {Reading} reading  Changed by the reader.
 * @param {{sheets?: string[], sheet?: string | null, encoding?: string | null}} known
 * @param {any} options  With their labels.
 * @param {() => void} changed
 */
export function offerReading(box, reading, { sheets = [], sheet, encoding = null }, options, changed) {
  const fields = [];
  const repeat = (list) => list.map((name) => [name, name]);
  if (sheets.length > 1) {
    const chosen = reading.sheet || sheet || "";
    const choices = chosen ? repeat(sheets) : [["", "choose one"], ...repeat(sheets)];
    fields.push(makeField("sheet", choices, chosen));
  }
  if (reading.encoding || (encoding !== null && encoding !== "utf-8")) {
    const detected = encoding ? `detected: ${encoding}` : "choose one";
    const choices = [["", reading.encoding ? "detect it" : detected], ...repeat(ENCODINGS)];
    fields.push(makeField("encoding", choices, reading.encoding));
  }
  box.replaceChildren(el("div", { class: "fields" }, ...fields));
  box.hidden = fields.length === 0;

  function makeField(name, choices, chosen) {
    const input = el("select", { id: `reading-${name}` });
    fillOptions(input, choices, chosen);
    input.addEventListener("change", () => {
      reading[name] = input.value;
      changed();
    });
    const label = el("label", { for: input.id }, options[name].label);
    return el("div", { class: "field" }, label, input);
  }
}
