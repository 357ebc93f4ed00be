/** The choice of a scale: the usual ones, or one's own. */

import { fillOptions } from "./dom.js";

const USUAL = [
  ["1:5", "1 to 5"],
  ["1:10", "1 to 10"],
  ["0:10", "0 to 10"],
  ["1:4", "1 to 4"],
  ["0.5:5:0.5", "½ to 5, half stars"],
];
const OWN = ["own", "another …"];

/**
 * @param {HTMLSelectElement} select
 * @param {HTMLElement} row  Holds the field for one's own scale.
 * @param {(scale: string) => void} changed
 */
export function scaleChoice(select, row, changed) {
  const own = row.querySelector("input");
  fillOptions(select, [...USUAL, OWN], USUAL[0][0]);
  select.addEventListener("change", () => {
    row.hidden = select.value !== "own";
    if (row.hidden) changed(select.value);
    else own.focus();
  });
  own.addEventListener("input", () => changed(own.value));

  return {
    show(scale) {
      const usual = USUAL.some(([text]) => text === scale);
      if (usual) select.value = scale;
      else select.value = "own";
      row.hidden = usual;
      if (!usual && own.value !== scale) own.value = scale;
    },
  };
}
