/** Save files that are made in the browser. */

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download holds its own copy by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Save rows as CSV.
 * @param {(string | number | null | undefined)[][]} rows
 * @param {string} name
 */
export function saveCsv(rows, name) {
  const text = rows.map((row) => row.map(writeCell).join(",")).join("\r\n") + "\r\n";
  save(new Blob([text], { type: "text/csv;charset=utf-8" }), name);
}

const FORMULA = /^(?:[\t\n\r]|[\s\u200b]*[=+\-@＝＋－＠])/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Write a cell; text that a spreadsheet would take for a formula gets an apostrophe in front. */
function writeCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
