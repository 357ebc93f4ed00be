/** The choice of a scale: a common one, or one's own. */

import { fillOptions } from "./dom.js";

const COMMON = [
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
export function makeScaleChoice(select, row, changed) {
  const own = row.querySelector("input");
  fillOptions(select, [...COMMON, OWN], COMMON[0][0]);
  select.addEventListener("change", () => {
    row.hidden = select.value !== "own";
    if (row.hidden) changed(select.value);
    else own.focus();
  });
  own.addEventListener("input", () => changed(own.value));

  return {
    show(scale) {
      const isCommon = COMMON.some(([text]) => text === scale);
      if (isCommon) select.value = scale;
      else select.value = "own";
      row.hidden = isCommon;
      if (!isCommon && own.value !== scale) own.value = scale;
    },
  };
}
