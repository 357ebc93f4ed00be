/** The page as a whole: the assumption, and three views of which one is shown. */

import { about } from "./api.js";
import { initAssumption, offerPresets, showAssumption } from "./assumption.js";
import { loadVega } from "./charts.js";
import { initCompare } from "./compare.js";
import { byId } from "./dom.js";
import { debounce } from "./latest.js";
import { initOne } from "./one.js";
import { readFragment, state, VIEWS, writeFragment } from "./state.js";
import { initTable, showLimits } from "./table.js";
import { takeToken } from "./token.js";

// Browsers limit how often the address may change.
const remember = debounce(writeFragment, 300);

const { setQ } = initAssumption(changed);
const views = {
  one: initOne(changed),
  compare: initCompare(changed),
  table: initTable(changed, goTo),
};

const headlines = document.querySelectorAll(".headline");

// While the slider moves, a screen reader need not read every headline.
const announce = debounce(() => headlines.forEach((one) => one.removeAttribute("aria-busy")), 500);

function changed() {
  headlines.forEach((one) => one.setAttribute("aria-busy", "true"));
  announce();
  introduce();
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

/** Take the reader to another view and its heading. */
function goTo(view) {
  turnTo(view);
  byId(`${view}-title`).focus();
}

let isIntroduced = false;

/** Show what the server says about itself, once it responds. */
async function introduce() {
  if (isIntroduced) return;
  try {
    const facts = await about();
    if (isIntroduced) return;
    isIntroduced = true;
    offerPresets(facts, setQ);
    showLimits(facts);
    byId("version").textContent = `unheard ${facts.version}`;
  } catch {
    // The view says what is wrong; the next change tries again.
  }
}

byId("where").textContent = location.host;
for (const link of document.querySelectorAll(".jump")) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // the fragment holds the state
    byId(link.hash.slice(1)).focus();
  });
}
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
  debounce(() => {
    if (innerWidth === width) return; // a phone's address bar comes and goes
    width = innerWidth;
    views[state.view].ask();
  }, 200),
);

takeToken();
loadVega();
readFragment();
showAll();
