/** The rows of a ranking: searched, sorted, and opened one by one. */

import { el } from "./dom.js";
import { writePercent, writePlural, writeRange, writeRating, writeWhole, widthOf } from "./numbers.js";

const STEP = 50;

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => string} text
 * @property {(row: any) => any} key  What rows are sorted by.
 * @property {boolean} [number]  Whether it is aligned to the right.
 */

/**
 * @param {HTMLElement} box
 * @param {(row: any) => void} open  Called with the row whose name was pressed.
 */
export function makeRankingTable(box, open) {
  let answer = null;
  let items = [];
  let columns = [];
  let order = null; // best first, as the server sorts, until a heading is pressed
  let most = STEP;

  const search = el("input", { type: "search", id: "ranking-search", autocomplete: "off" });
  const shownOf = el("p", { class: "hint", role: "status" });
  const table = el("table", { class: "ranking" });
  const region = { class: "wide", role: "region", tabindex: "0", "aria-labelledby": "ranking-caption" };
  const label = el("label", { for: "ranking-search" }, "Find an item");
  const more = el("button", { type: "button", onclick: () => showMost(most + STEP) }, "Show more");
  search.addEventListener("input", () => showMost(STEP));
  box.append(
    el("div", { class: "field inline" }, label, search),
    el("div", region, table),
    shownOf,
    more,
  );

  function showMost(rows) {
    most = rows;
    fill();
  }

  function fill() {
    const wanted = search.value.trim().toLowerCase();
    const found = answer.rows.filter((row) => writeName(row, items).toLowerCase().includes(wanted));
    if (order) found.sort(compareBy(columns[order.column], order.descending));
    const rows = found.slice(0, most);
    table.replaceChildren(
      el("caption", { id: "ranking-caption" }, "Ranking"),
      el("thead", {}, el("tr", {}, ...columns.map(makeHeading))),
      el("tbody", {}, ...rows.map(makeRow)),
    );
    shownOf.textContent = `${writeWhole(rows.length)} of ${writePlural(found.length, "item")} shown.`;
    more.hidden = rows.length === found.length;
  }

  function makeHeading(column, place) {
    const sorted = order?.column === place && (order.descending ? "descending" : "ascending");
    const button = el("button", { type: "button", onclick: () => sortBy(place) }, column.title);
    return el("th", { scope: "col", "aria-sort": sorted, class: column.number && "number" }, button);
  }

  function sortBy(place) {
    const again = order?.column === place;
    order = { column: place, descending: again ? !order.descending : Boolean(columns[place].number) };
    fill();
    table.querySelectorAll("thead button")[place].focus();
  }

  function makeRow(row) {
    const cells = columns.map((column, place) => {
      const text = column.text(row);
      if (place) return el("td", { class: column.number && "number" }, text);
      const button = el("button", { type: "button", class: "link", onclick: () => open(row) }, text);
      return el("th", { scope: "row" }, button);
    });
    return el("tr", {}, ...cells);
  }

  return {
    /** Show an answer about items named by some columns. */
    show(fresh, names) {
      if (names.join() !== items.join()) {
        order = null;
        search.value = "";
      }
      [answer, items, most] = [fresh, names, STEP];
      columns = listColumns(fresh, names);
      if (order && order.column >= columns.length) order = null;
      fill();
    },
  };
}

/** Write the name of an item. */
export function writeName(row, items) {
  return items.map((name) => row[name] ?? "(no name)").join(", ");
}

/** @returns {Column[]} */
function listColumns({ rows, scale, level, k }, items) {
  const width = widthOf(scale);
  const whole = (title, name) => ({
    title,
    number: true,
    text: (row) => writeWhole(row[name]),
    key: (row) => row[name],
  });
  const rating = (title, name) => ({
    ...whole(title, name),
    text: (row) => writeRating(row[name], width),
  });
  const range = (title, low, high) => ({
    ...whole(title, low),
    text: (row) => writeRange(row[low], row[high], width),
  });
  const ranks = (title, best, worst) => ({
    title,
    text: (row) => writeRanks(row[best], row[worst]),
    key: (row) => row[best] * 1e9 + row[worst],
  });
  const name = (row) => writeName(row, items);
  const columns = [
    { title: items.join(", "), text: name, key: name },
    whole("Ratings", "n_ratings"),
    rating("Average", "average"),
    rating("Estimate", "estimate"),
    range("Bounds", "lower", "upper"),
    ranks("Rank range", "best_rank", "worst_rank"),
  ];
  if (rows.some((row) => row.n !== null)) columns.splice(2, 0, whole("People", "n"));
  if (k !== null) {
    columns.push({ title: `Top ${writeWhole(k)}`, text: writeVerdict, key: (row) => row.best_rank });
  }
  columns.push(
    range(`${writePercent(level)} confidence interval`, "ci_lower", "ci_upper"),
    ranks("Rank range with sampling error", "ci_best_rank", "ci_worst_rank"),
    whole("Tier", "tier"),
  );
  if (rows.some((row) => row.notes.length)) {
    const notes = (row) => row.notes.join(" ");
    columns.push({ title: "Notes", text: notes, key: notes });
  }
  return columns;
}

function writeRanks(best, worst) {
  return best === worst ? writeWhole(best) : `${writeWhole(best)} to ${writeWhole(worst)}`;
}

/** Write whether an item is in the top k, and whether sampling error makes a difference. */
function writeVerdict({ top, ci_top: withError }) {
  return withError !== null && withError !== top ? `${top}, ignoring sampling error` : top;
}

function compareBy({ key }, descending) {
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return (a, b) => {
    const [x, y] = [key(a), key(b)];
    const up = typeof x === "string" ? compare(x, y) : (x ?? -Infinity) - (y ?? -Infinity);
    return descending ? -up : up;
  };
}
