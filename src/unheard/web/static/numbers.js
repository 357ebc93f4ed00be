/** Numbers read from what people type, and written for people. */

/** What is wrong with something typed, in a sentence. */
export class Mistake extends Error {}

const THOUSANDS = /^\d{1,3}(,\d{3})+(\.\d+)?$/;

/**
 * @param {string} text
 * @param {string} what  What the number is, for the message.
 * @returns {number}
 */
export function readNumber(text, what) {
  const plain = text.trim();
  const value = Number(THOUSANDS.test(plain) ? plain.replaceAll(",", "") : plain);
  if (plain === "" || !Number.isFinite(value)) {
    throw new Mistake(`“${text}” is not a number. ${what}`);
  }
  return value;
}

/** Read a number that may be left out. */
export function readOptional(text, what) {
  return text.trim() === "" ? undefined : readNumber(text, what);
}

/**
 * Read several numbers: a row or a column of a spreadsheet, or a list with spaces, commas or
 * semicolons. Cells of a spreadsheet may have commas at the thousands.
 * @param {string} text
 * @returns {string[]} each as typed
 */
export function splitNumbers(text) {
  const cells = text.trim().split(/[\t\r\n]+/);
  const several = cells.length > 1 ? cells : cells[0].split(/[\s,;]+/);
  return several.map((cell) => cell.trim()).filter((cell) => cell !== "");
}

/**
 * Read a scale: first:last, first:last:step, or a list with commas.
 * @param {string} text
 * @returns {number[]}
 */
export function readScale(text) {
  const remedy = "Write the scale as 1:7, as 0.5:5:0.5 or as 1,2,4.";
  if (!text.includes(":")) return risen(text.split(",").map((part) => readNumber(part, remedy)));
  const [first, last, step = 1] = text.split(":").map((part) => readNumber(part, remedy));
  const exact = (last - first) / step;
  const steps = Math.round(exact);
  if (!(step > 0 && steps >= 1 && steps <= 100 && Math.abs(exact - steps) < 1e-9)) {
    throw new Mistake(`“${text}” is not a scale of 2 to 101 ratings. ${remedy}`);
  }
  return Array.from({ length: steps + 1 }, (_, i) => tidy(first + i * step));

  function risen(values) {
    if (values.length >= 2 && values.every((v, i) => i === 0 || v > values[i - 1])) return values;
    throw new Mistake(`“${text}” does not rise. ${remedy}`);
  }
}

/** Use the values of a scale, once its text can be read: while it is typed, asking says what is wrong. */
export function whenReadable(text, use) {
  let values;
  try {
    values = readScale(text);
  } catch {
    return;
  }
  use(values);
}

/** Decimal steps such as 0.1 add up with rounding noise; 12 digits are what was meant. */
function tidy(value) {
  return Number(value.toPrecision(12));
}

/** Write scale values as people would type them. */
export function scaleText(values) {
  const [first, second] = values;
  const step = tidy(second - first);
  if (!values.every((value, i) => value === tidy(first + i * step))) return values.join(",");
  return `${first}:${values.at(-1)}${step === 1 ? "" : `:${step}`}`;
}

/** The mean of the ratings given; null if there are none. */
export function average(counts, scale) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total > 0 ? counts.reduce((sum, count, i) => sum + count * scale[i], 0) / total : null;
}

/** The width of a scale, which says how many decimals its ratings need. */
export function widthOf(scale) {
  return scale.at(-1) - scale[0];
}

/** A rating with two decimals, more on a scale so short that two say nothing. */
export function ratingText(value, width) {
  if (value === null || value === undefined) return "–";
  return fixed(value, Math.max(2, 2 - Math.floor(Math.log10(width))));
}

/**
 * Write a number with so many decimals, one at least. What lies exactly between two goes to the
 * even digit, as in the server's texts and pictures; toFixed alone would go away from 0.
 */
function fixed(value, decimals) {
  const text = value.toFixed(decimals);
  const exact = value.toFixed(100).replace(/0+$/, "");
  const between = exact.length === text.length + 1 && exact.endsWith("5");
  return between && /[13579]$/.test(text) ? exact.slice(0, -1) : text;
}

/** An interval of ratings. */
export function rangeText(low, high, width) {
  return `${ratingText(low, width)} to ${ratingText(high, width)}`;
}

/** A whole number with commas at the thousands. */
export function wholeText(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en");
}

/** So many things. */
export function plural(many, one) {
  return `${wholeText(many)} ${one}${many === 1 ? "" : "s"}`;
}

/** A share, such as 0.95, as a percentage. */
export function percentText(share) {
  return `${Number((share * 100).toPrecision(3))}%`;
}
