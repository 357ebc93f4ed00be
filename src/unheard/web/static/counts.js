/** A row of fields, one for each rating of a scale; pasting several numbers fills all of them. */

import { el } from "./dom.js";
import { Mistake, readNumber, splitNumbers } from "./numbers.js";

/**
 * @param {HTMLElement} box  Gets the fields.
 * @param {string} prefix  Begins the name of each field for screen readers.
 * @param {(counts: string[], problem?: Mistake) => void} changed
 */
export function makeCountFields(box, prefix, changed) {
  const cells = el("div", { class: "cells" });
  box.append(cells);
  let scale = [];
  let fields = [];
  /** Counts by rating, kept while the scale changes, so that typing a new one loses nothing. */
  let kept = new Map();

  const readTyped = () => fields.map((field) => field.value);

  function put(counts) {
    fields.forEach((field, i) => (field.value = counts[i] ?? ""));
    keep();
  }

  function keep() {
    scale.forEach((value, i) => kept.set(value, fields[i].value));
  }

  function paste(event) {
    const values = splitNumbers(event.clipboardData.getData("text"));
    if (values.length < 2) return; // an ordinary paste into one field
    event.preventDefault();
    if (values.length === fields.length) {
      put(values);
      changed(values);
      return;
    }
    const found = `You pasted ${values.length} numbers, but the scale has ${fields.length} ratings.`;
    changed(readTyped(), new Mistake(`${found} Choose the scale first.`));
  }

  function field(value) {
    return el("input", {
      type: "text",
      inputmode: "numeric",
      autocomplete: "off",
      "aria-label": `${prefix}rated ${value}`,
      oninput: () => {
        keep();
        changed(readTyped());
      },
      onpaste: paste,
    });
  }

  /** Lay out the fields of a scale. */
  function lay(values) {
    if (values.join() === scale.join()) return;
    scale = values;
    fields = values.map(field);
    const label = (input, i) =>
      el("label", { class: "cell" }, el("span", { "aria-hidden": "true" }, String(values[i])), input);
    cells.replaceChildren(...fields.map(label));
  }

  return {
    /** Mark the field that an error about an argument names, or none. */
    mark(error, argument = "counts") {
      const place = error?.argument === argument ? error.index.at(-1) : undefined;
      fields.forEach((field, i) => {
        if (place === i) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
      });
    },
    /** Show these counts. */
    show(values, counts) {
      lay(values);
      kept = new Map();
      put(counts);
    },
    /**
     * Change the scale: each rating keeps its count.
     * @returns {string[]} the counts on the new scale
     */
    rescale(values) {
      lay(values);
      put(values.map((value) => kept.get(value)));
      return readTyped();
    },
  };
}

/** Read typed counts; an empty field is 0. */
export function readCounts(counts) {
  const hint = "A count is a number, 0 or more.";
  return counts.map((text) => (text.trim() === "" ? 0 : readNumber(text, hint)));
}
