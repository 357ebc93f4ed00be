/** The panel that holds the assumption, shared by all views. */

import { byId, el, fillOptions } from "./dom.js";
import { readOptional } from "./numbers.js";
import { state } from "./state.js";

/** Stops of the slider: round numbers, closer together where q is small; from 1 down, as in charts. */
const STOPS = [
  ...listSteps(1, 0.5, 0.05),
  ...listSteps(0.5, 0.2, 0.02),
  ...listSteps(0.2, 0.1, 0.01),
  ...listSteps(0.1, 0.05, 0.005),
  ...listSteps(0.05, 0.02, 0.002),
  ...listSteps(0.02, 0.01, 0.001),
  0.01,
];

function listSteps(from, to, by) {
  const steps = Math.round((from - to) / by);
  return Array.from({ length: steps }, (_, i) => Number((from - i * by).toFixed(3)));
}

const slider = byId("q-slider");
const field = byId("q");
const radios = [...document.querySelectorAll("#quiet input")];
const floor = byId("floor");
const more = byId("more-assumed");
const study = byId("study");

/** The studies that found a q, by the word for each; empty until the server has sent them. */
let studies = {};

/** @param {() => void} changed */
export function initAssumption(changed) {
  // On a phone it would push the answer out of sight.
  more.open = matchMedia("(min-width: 56rem)").matches;
  slider.max = STOPS.length - 1;
  slider.addEventListener("input", () => setQ(STOPS[slider.value]));
  field.addEventListener("input", () => setQ(field.value));
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      state.quiet = radio.value;
      showStudy();
      changed();
    });
  }
  floor.addEventListener("input", () => {
    state.floor = floor.value;
    showStudy();
    changed();
  });

  function setQ(value) {
    state.q = String(value);
    showAssumption();
    changed();
  }

  return { setQ };
}

/** Offer the presets of the server, and its studies. */
export function offerPresets({ presets, preset_words: texts, studies: found }, setQ) {
  const box = byId("presets");
  for (const [name, q] of Object.entries(presets)) {
    const button = el("button", { type: "button", "data-q": q, onclick: () => setQ(q) });
    const title = `${name[0].toUpperCase()}${name.slice(1)} ${q}`;
    button.append(el("strong", {}, title), el("span", {}, texts[name]));
    box.append(button);
  }
  studies = found;
  offerStudies(setQ);
  box.hidden = false;
  showAssumption();
}

/** Offer the q of each study, with its direction. */
function offerStudies(setQ) {
  const write = ([word, { name, q }]) => [word, `${name}: q = ${Number(q.toPrecision(2))}`];
  fillOptions(study, [["", "choose a study"], ...Object.entries(studies).map(write)], "");
  study.addEventListener("change", () => {
    if (!study.value) return showAssumption();
    const { q, quiet } = studies[study.value];
    Object.assign(state, { quiet, floor: "" });
    setQ(q);
  });
  byId("studies").hidden = false;
}

/** Show which study the assumption is taken from, if any. */
function showStudy() {
  const isAssumed = ({ q, quiet }) => String(q) === state.q && quiet === state.quiet && !state.floor;
  const [word, found] = Object.entries(studies).find(([, one]) => isAssumed(one)) ?? ["", null];
  study.value = word;
  byId("study-about").textContent = found ? `${found.words}.` : "";
}

/** Show the assumption in all its controls. */
export function showAssumption() {
  if (field.value !== state.q) field.value = state.q;
  slider.value = findNearestStop(Number(state.q));
  slider.setAttribute("aria-valuetext", `q = ${state.q}`);
  for (const button of document.querySelectorAll("#presets button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.q) === Number(state.q)));
  }
  for (const radio of radios) radio.checked = radio.value === state.quiet;
  showStudy();
  if (floor.value !== state.floor) floor.value = state.floor;
  if (state.floor) more.open = true;
}

/** Show the sentence in which an answer states the assumption. */
export function describeAssumption(text) {
  byId("assumption-text").textContent = text;
}

/** Read the assumption as questions to the server state it. */
export function readAssumption() {
  const least = readOptional(state.floor, "Enter a probability, or leave the field empty.");
  if (least !== undefined) return { floor: least };
  const q = Number(state.q);
  // Anything else goes as it is: the server says what is wrong with it.
  return { q: state.q.trim() !== "" && Number.isFinite(q) ? q : state.q, quiet: state.quiet };
}

function findNearestStop(q) {
  const distance = (stop) => Math.abs(Math.log(STOPS[stop] / Math.max(q, 1e-9)));
  return STOPS.map((_, stop) => stop).reduce((a, b) => (distance(b) < distance(a) ? b : a));
}
