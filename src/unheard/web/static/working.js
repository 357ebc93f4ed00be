/** The line that tells what is being done, for how long, and lets it be cancelled. */

import { byId } from "./dom.js";

/** @param {() => void} cancel  Called when the reader has pressed Cancel. */
export function workingLine(cancel) {
  const line = byId("table-working");
  const words = byId("table-doing");
  let since = 0;
  let timer = null;
  let stopped = false;
  byId("table-cancel").addEventListener("click", () => {
    stopped = true;
    cancel();
  });

  return {
    /** Say what is being done now. */
    start(what) {
      if (!timer) [since, stopped] = [performance.now(), false];
      clearInterval(timer);
      words.textContent = `${what} …`;
      timer = setInterval(() => {
        words.textContent = `${what} … ${Math.round((performance.now() - since) / 1000)} s`;
      }, 1000);
      line.classList.remove("resting");
      line.hidden = false;
    },
    /** Nothing is being done; the line keeps its place, so that nothing jumps. */
    end() {
      clearInterval(timer);
      timer = null;
      line.classList.add("resting");
    },
    /** Whether the reader has cancelled it. */
    cancelled: () => stopped,
  };
}
