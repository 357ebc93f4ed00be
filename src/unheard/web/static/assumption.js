/** The panel that states the assumption, shared by all views. */

import { byId, el } from "./dom.js";
import { readOptional } from "./numbers.js";
import { state } from "./state.js";

/** Places of the slider: round numbers, closer together where q is small. */
const PLACES = [
  ...steps(0.01, 0.02, 0.001),
  ...steps(0.02, 0.05, 0.002),
  ...steps(0.05, 0.1, 0.005),
  ...steps(0.1, 0.2, 0.01),
  ...steps(0.2, 0.5, 0.02),
  ...steps(0.5, 1, 0.05),
  1,
];

function steps(from, to, by) {
  const many = Math.round((to - from) / by);
  return Array.from({ length: many }, (_, i) => Number((from + i * by).toFixed(3)));
}

const slider = byId("q-slider");
const field = byId("q");
const radios = [...document.querySelectorAll("#quiet input")];
const floor = byId("floor");

/** @param {() => void} changed */
export function initAssumption(changed) {
  slider.max = PLACES.length - 1;
  slider.addEventListener("input", () => setQ(PLACES[slider.value]));
  field.addEventListener("input", () => setQ(field.value));
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      state.quiet = radio.value;
      changed();
    });
  }
  floor.addEventListener("input", () => {
    state.floor = floor.value;
    changed();
  });

  function setQ(value) {
    state.q = String(value);
    showAssumption();
    changed();
  }

  return { setQ };
}

/** Offer the presets of the server, in its words. */
export function offerPresets({ presets, preset_words: words }, setQ) {
  const box = byId("presets");
  for (const [name, q] of Object.entries(presets)) {
    const button = el("button", { type: "button", "data-q": q, onclick: () => setQ(q) });
    const title = `${name[0].toUpperCase()}${name.slice(1)} ${q}`;
    button.append(el("strong", {}, title), el("span", {}, words[name]));
    box.append(button);
  }
  box.hidden = false;
  showAssumption();
}

/** Show what is assumed in all its controls. */
export function showAssumption() {
  if (field.value !== state.q) field.value = state.q;
  slider.value = nearest(Number(state.q));
  slider.setAttribute("aria-valuetext", `q ${state.q}`);
  for (const button of document.querySelectorAll("#presets button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.q) === Number(state.q)));
  }
  for (const radio of radios) radio.checked = radio.value === state.quiet;
  if (floor.value !== state.floor) floor.value = state.floor;
  if (state.floor) byId("more-assumed").open = true;
}

/** Say the assumption in the words of the answer. */
export function sayAssumption(words) {
  byId("assumption-words").textContent = words;
}

/** The assumption as questions to the server state it. */
export function assumption() {
  const least = readOptional(state.floor, "Say the least probability to respond, or leave it empty.");
  if (least !== undefined) return { floor: least };
  const q = Number(state.q);
  // What is no number goes as it is: the server knows presets, and says what is wrong.
  return { q: state.q.trim() !== "" && Number.isFinite(q) ? q : state.q, quiet: state.quiet };
}

function nearest(q) {
  const distance = (place) => Math.abs(Math.log(PLACES[place] / Math.max(q, 1e-9)));
  return PLACES.map((_, place) => place).reduce((a, b) => (distance(b) < distance(a) ? b : a));
}
