/** Build and fill elements. Text goes in as text, never as HTML. */

/**
 * @param {string} id
 * @returns {any} the element, which the page has
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * @param {string} tag
 * @param {Record<string, any>} attributes  A name that starts with "on" adds a listener; true is an
 *   attribute without a value; false, null and undefined are left out.
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/** Put a list of sentences into a node, a paragraph each. */
export function fillParagraphs(node, sentences) {
  node.replaceChildren(...sentences.map((sentence) => el("p", {}, sentence)));
}

/** Put notes into a list, which disappears if there are none. */
export function fillNotes(list, notes) {
  list.replaceChildren(...notes.map((note) => el("li", {}, note)));
  list.hidden = notes.length === 0;
}

/** Put options into a select: pairs of value and label. */
export function fillOptions(select, options, chosen) {
  select.replaceChildren(...options.map(([value, label]) => el("option", { value }, label)));
  select.value = chosen;
}

/**
 * Fill a table: a caption, a row of headings, and rows whose first cell is a heading.
 * @param {HTMLTableElement} table
 * @param {string} captionId
 * @param {string} caption
 * @param {string[]} headings
 * @param {string[][]} rows
 */
export function fillTable(table, captionId, caption, headings, rows) {
  const head = headings.map((text) => el("th", { scope: "col" }, text));
  const body = rows.map(([first, ...rest]) =>
    el("tr", {}, el("th", { scope: "row" }, first), ...rest.map((cell) => el("td", {}, cell))),
  );
  table.replaceChildren(
    el("caption", { id: captionId }, caption),
    el("thead", {}, el("tr", {}, ...head)),
    el("tbody", {}, ...body),
  );
}
