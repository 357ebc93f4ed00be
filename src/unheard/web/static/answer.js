/** The area that shows an answer, and the alert above it. */

import { isAbort, Problem } from "./api.js";
import { Mistake } from "./numbers.js";

/**
 * @param {HTMLElement} area  Dimmed while it does not answer the current question. It can be
 *   downloaded only while it does.
 * @param {HTMLElement} alert
 */
export function makeAnswerArea(area, alert) {
  const downloads = [...area.querySelectorAll(".downloads button")];
  let asked = 0;
  let begun = 0;

  function allowDownloads(allowed) {
    for (const button of downloads) button.disabled = !allowed;
  }

  return {
    /** The question has changed. */
    ask() {
      asked += 1;
      allowDownloads(false);
    },
    /** The server is answering the current question. */
    begin() {
      begun = asked;
    },
    /** The area shows the answer that was begun. */
    succeed() {
      area.classList.remove("unanswered");
      area.hidden = false;
      if (begun !== asked) return; // the next answer is on its way, or there is none
      alert.textContent = "";
      area.classList.remove("stale");
      allowDownloads(true);
    },
    /** There is no answer: say why, and dim the last one. */
    fail(error) {
      if (isAbort(error)) return;
      this.ask();
      alert.textContent = error.message;
      area.classList.add("stale");
      if (!(error instanceof Problem || error instanceof Mistake)) throw error;
    },
  };
}

/**
 * Run work when a button is pressed; the alert says what failed.
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} alert
 * @param {() => Promise<void>} work
 */
export function onPress(button, alert, work) {
  let message = null;
  button.addEventListener("click", async () => {
    button.setAttribute("aria-disabled", "true");
    try {
      await work();
      if (alert.textContent === message) alert.textContent = "";
    } catch (error) {
      alert.textContent = message = error.message;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}
