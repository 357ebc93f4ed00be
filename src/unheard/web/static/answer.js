/** Where an answer is shown, and the alert above it. */

import { isAbort, Problem } from "./api.js";
import { Mistake } from "./numbers.js";

/**
 * @param {HTMLElement} area  Dimmed if there is no answer to what is asked. What it shows can be
 *   downloaded only while it is the answer to what is asked.
 * @param {HTMLElement} alert
 */
export function answerArea(area, alert) {
  const downloads = [...area.querySelectorAll(".downloads button")];
  let asked = 0;
  let begun = 0;

  function allowDownloads(allowed) {
    for (const button of downloads) button.disabled = !allowed;
  }

  return {
    /** Something else is asked from now on. */
    ask() {
      asked += 1;
      allowDownloads(false);
    },
    /** What was asked last is being answered. */
    begin() {
      begun = asked;
    },
    /** The area now shows the answer to what was begun. */
    good() {
      area.classList.remove("unanswered");
      area.hidden = false;
      if (begun !== asked) return; // the next answer is on its way, or there is none
      alert.textContent = "";
      area.classList.remove("stale");
      allowDownloads(true);
    },
    /** There is no answer: say why, and leave the last one dimmed. */
    bad(error) {
      if (isAbort(error)) return;
      this.ask();
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
