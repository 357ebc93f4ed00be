"use strict";
// Search, sort and "show more" for the ranking. Without this script all rows are shown.
(() => {
  const observer = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      target.classList.toggle("wider", target.scrollWidth > target.clientWidth + 1);
    }
  });
  for (const box of document.querySelectorAll(".scroll")) observer.observe(box);
  const table = document.getElementById("items");
  if (!table) return;
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  const step = 50;
  const all = Array.from(body.rows, (row, place) => ({
    row,
    place,
    text: (row.cells[0].title || row.cells[0].textContent).toLowerCase(),
  }));
  const words = new Intl.Collator(undefined, { numeric: true });
  let sorted = all;
  let most = step;

  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const everything = document.getElementById("all");
  const written = (number) => number.toLocaleString("en-GB");

  function show() {
    const wanted = search.value.trim().toLowerCase();
    const found = wanted ? sorted.filter((one) => one.text.includes(wanted)) : sorted;
    const shown = found.slice(0, most);
    body.replaceChildren(...shown.map((one) => one.row));
    count.textContent = `${written(shown.length)} of ${written(found.length)}` +
      (wanted ? " found" : "") + " shown";
    more.hidden = everything.hidden = shown.length === found.length;
  }

  // A cell says "1,204", "3 to 17", "4.25 to 4.75", "any", "never", or words.
  function numbers(text) {
    if (text === "any") return [0];
    if (text === "never") return [Infinity];
    const found = text.replace(/,/g, "").match(/-?\d+(\.\d+)?/g);
    return found ? found.map(Number) : [];
  }

  function sort(column, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    const sign = down ? -1 : 1;
    const keyed = all.map((one) => {
      const text = one.row.cells[column].textContent.trim();
      return { one, text, numbers: numbers(text) };
    });
    // Words are compared as words; one that is no number in a column of numbers comes last.
    const asWords = column === 0 || !keyed.some((key) => /^[\d-]/.test(key.text));
    keyed.sort((a, b) => {
      if (asWords) {
        const order = words.compare(a.text, b.text);
        return sign * order || a.one.place - b.one.place;
      }
      if (!a.numbers.length || !b.numbers.length) {
        return b.numbers.length - a.numbers.length || a.one.place - b.one.place;
      }
      for (let i = 0; i < Math.min(a.numbers.length, b.numbers.length); i += 1) {
        if (a.numbers[i] !== b.numbers[i]) return sign * (a.numbers[i] < b.numbers[i] ? -1 : 1);
      }
      return a.one.place - b.one.place;
    });
    sorted = keyed.map((key) => key.one);
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    show();
  }

  heads.forEach((head, column) => {
    if (head.classList.contains("drawn")) return;
    // A real button is not printed again at the head of the next sheet.
    const button = document.createElement("span");
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column, head));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(column, head);
    });
    head.replaceChildren(button);
  });
  search.addEventListener("input", () => {
    most = step;
    show();
  });
  more.addEventListener("click", () => {
    most += 4 * step;
    show();
  });
  everything.addEventListener("click", () => {
    most = all.length;
    show();
  });
  for (const tools of document.querySelectorAll(".tools")) tools.hidden = false;
  show();
})();
