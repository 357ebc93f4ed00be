/** Read numbers that people type, and write numbers for people. */

/** Something typed or chosen that cannot be used, with a sentence that says why. */
export class Mistake extends Error {}

const THOUSANDS = /^\d{1,3}(,\d{3})+(\.\d+)?$/;

/**
 * @param {string} text
 * @param {string} hint  What to do if it is not a number.
 * @returns {number}
 */
export function readNumber(text, hint) {
  const plain = text.trim();
  const value = Number(THOUSANDS.test(plain) ? plain.replaceAll(",", "") : plain);
  if (plain === "" || !Number.isFinite(value)) {
    throw new Mistake(`“${text}” is not a number. ${hint}`);
  }
  return value;
}

/** Read a number that may be left out. */
export function readOptional(text, hint) {
  return text.trim() === "" ? undefined : readNumber(text, hint);
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
  const hint = "Write the scale as 1:7, 0.5:5:0.5 or 1,2,4.";
  if (!text.includes(":")) return checkOrder(text.split(",").map((part) => readNumber(part, hint)));
  const [first, last, step = 1] = text.split(":").map((part) => readNumber(part, hint));
  const exact = (last - first) / step;
  const steps = Math.round(exact);
  if (!(step > 0 && steps >= 1 && steps <= 100 && Math.abs(exact - steps) < 1e-9)) {
    throw new Mistake(`“${text}” is not a scale of 2 to 101 ratings. ${hint}`);
  }
  return Array.from({ length: steps + 1 }, (_, i) => roundOff(first + i * step));

  function checkOrder(values) {
    if (values.length >= 2 && values.every((v, i) => i === 0 || v > values[i - 1])) return values;
    throw new Mistake(`“${text}” is not in increasing order. ${hint}`);
  }
}

/** Use the values of a scale if it can be read; if not, the next question says what is wrong. */
export function whenReadable(text, use) {
  let values;
  try {
    values = readScale(text);
  } catch {
    return;
  }
  use(values);
}

/** Decimal steps such as 0.1 add up with rounding errors; 12 digits are what was meant. */
function roundOff(value) {
  return Number(value.toPrecision(12));
}

/** Write scale values as people would type them. */
export function writeScale(values) {
  const [first, second] = values;
  const step = roundOff(second - first);
  if (!values.every((value, i) => value === roundOff(first + i * step))) return values.join(",");
  return `${first}:${values.at(-1)}${step === 1 ? "" : `:${step}`}`;
}

/** The mean of the ratings given; null if there are none. */
export function computeAverage(counts, scale) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total > 0 ? counts.reduce((sum, count, i) => sum + count * scale[i], 0) / total : null;
}

/** The width of a scale, which decides how many decimals its ratings need. */
export function widthOf(scale) {
  return scale.at(-1) - scale[0];
}

/** Write a rating with two decimals, more on a very short scale. */
export function writeRating(value, width) {
  if (value === null || value === undefined) return "–";
  return writeDecimals(value, Math.max(2, 2 - Math.floor(Math.log10(width))));
}

/**
 * Write a number with so many decimals, one at least. Ties go to the even digit, as in the server's
 * texts and charts; toFixed alone rounds them away from 0.
 */
function writeDecimals(value, decimals) {
  const text = value.toFixed(decimals);
  const exact = value.toFixed(100).replace(/0+$/, "");
  const isTie = exact.length === text.length + 1 && exact.endsWith("5");
  return isTie && /[13579]$/.test(text) ? exact.slice(0, -1) : text;
}

/** Write a range of ratings. */
export function writeRange(low, high, width) {
  return `${writeRating(low, width)} to ${writeRating(high, width)}`;
}

/** Write a whole number with commas at the thousands. */
export function writeWhole(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en");
}

/** Write a number of things. */
export function writePlural(many, one) {
  return `${writeWhole(many)} ${one}${many === 1 ? "" : "s"}`;
}

/** Write a share, such as 0.95, as a percentage. */
export function writePercent(share) {
  return `${Number((share * 100).toPrecision(3))}%`;
}
