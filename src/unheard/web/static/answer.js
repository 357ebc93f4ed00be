/** Where an answer is shown, and the alert above it. */

import { isAbort, Problem } from "./api.js";
import { Mistake } from "./numbers.js";

/**
 * @param {HTMLElement} area  Dimmed while what it shows is not the answer to what is asked.
 * @param {HTMLElement} alert
 */
export function answerArea(area, alert) {
  return {
    /** The area now shows the answer. */
    good() {
      alert.textContent = "";
      area.classList.remove("stale", "unanswered");
      area.hidden = false;
    },
    /** There is no answer: say why, and leave the last one dimmed. */
    bad(error) {
      if (isAbort(error)) return;
      alert.textContent = error.message;
      area.classList.add("stale");
      if (!(error instanceof Problem || error instanceof Mistake)) throw error;
    },
  };
}

/**
 * Run something that a button starts and that may fail: the button waits, and the alert tells.
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} alert
 * @param {() => Promise<void>} work
 */
export function onPress(button, alert, work) {
  let told = null;
  button.addEventListener("click", async () => {
    button.setAttribute("aria-disabled", "true");
    try {
      await work();
      if (alert.textContent === told) alert.textContent = "";
    } catch (error) {
      alert.textContent = told = error.message;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}
