/** The page put together: the assumption above three views, of which one is shown. */

import { about } from "./api.js";
import { initAssumption, offerPresets, showAssumption } from "./assumption.js";
import { loadVega } from "./charts.js";
import { initCompare } from "./compare.js";
import { byId } from "./dom.js";
import { rested } from "./latest.js";
import { initOne } from "./one.js";
import { readFragment, state, VIEWS, writeFragment } from "./state.js";
import { initTable, sayLimits } from "./table.js";
import { takeToken } from "./token.js";

// Browsers allow only so many changes of the address in a while.
const remember = rested(writeFragment, 300);

const { setQ } = initAssumption(changed);
const views = {
  one: initOne(changed),
  compare: initCompare(changed),
  table: initTable(changed, goTo),
};

const headlines = document.querySelectorAll(".headline");

// While things are moving a screen reader need not read every headline.
const settled = rested(() => headlines.forEach((one) => one.removeAttribute("aria-busy")), 500);

function changed() {
  headlines.forEach((one) => one.setAttribute("aria-busy", "true"));
  settled();
  greet();
  views[state.view].ask();
  remember();
}

/** Show the view that the state names, and ask its question. */
function showAll() {
  for (const name of VIEWS) {
    const current = name === state.view;
    byId(`view-${name}`).hidden = !current;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (current) document.title = `${link.textContent} · unheard`;
  }
  showAssumption();
  views[state.view].show();
  changed();
}

/** Show another view, as a new entry in the history. */
function turnTo(view) {
  if (state.view !== view) {
    writeFragment(); // where the reader comes back to
    history.pushState(null, "", `#${view}`);
    state.view = view;
  }
  showAll();
}

/** Take the reader to another view. */
function goTo(view) {
  turnTo(view);
  byId(`${view}-title`).focus();
}

let greeted = false;

/** Show what the server says about itself, once it does. */
async function greet() {
  if (greeted) return;
  try {
    const told = await about();
    if (greeted) return;
    greeted = true;
    offerPresets(told, setQ);
    sayLimits(told);
    byId("version").textContent = `unheard ${told.version}`;
  } catch {
    // The view says what is wrong; the next change asks again.
  }
}

byId("where").textContent = location.host;
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is taken
  byId("main").focus();
});
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opened elsewhere
    event.preventDefault();
    turnTo(link.hash.slice(1));
  });
}
addEventListener("hashchange", () => {
  readFragment();
  showAll();
});
document.addEventListener("themechange", () => views[state.view].ask());

let width = innerWidth;
addEventListener(
  "resize",
  rested(() => {
    if (innerWidth === width) return; // a phone's address bar comes and goes
    width = innerWidth;
    views[state.view].ask();
  }, 200),
);

takeToken();
loadVega();
readFragment();
showAll();
