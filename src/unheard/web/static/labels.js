/** What the controls of this page are called: the server declares each option, and its label, once. */

import { about } from "./api.js";

/** What has no control of its own, or several. */
const OTHERS = { source: "the table", body: "the request", a: "the first item", b: "the second item" };

/**
 * Write what is wrong as the reader of the page knows it.
 * @param {(string | {argument: string, index: number[], value: string | null})[]} parts
 */
export async function writeParts(parts) {
  const { options } = await about();
  const text = parts.map((part) => (typeof part === "string" ? part : nameControl(part, options))).join("");
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

function nameControl({ argument, index, value }, options) {
  const { label, choices = {} } = options[argument] ?? {};
  const places = index.map((place) => place + 1);
  if (argument in OTHERS) return [OTHERS[argument], ...places.map((place) => `count ${place}`)].join(", ");
  if (argument === "counts" && places.length) return `“${places.length > 1 ? `Item ${places[0]}, count` : "Count"} ${places.at(-1)}”`;
  if (value === null) return `“${label ?? argument}”`;
  return `“${label ?? argument}: ${choices[value] ?? value}”`;
}
