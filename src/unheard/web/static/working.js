/** The line that shows progress and offers to cancel it. */

import { byId } from "./dom.js";

/** @param {() => void} cancel  Called when the reader presses Cancel. */
export function makeProgressLine(cancel) {
  const line = byId("table-working");
  const text = byId("table-doing");
  let since = 0;
  let timer = null;
  let stopped = false;
  byId("table-cancel").addEventListener("click", () => {
    stopped = true;
    cancel();
  });

  return {
    /** Say what the server is doing. */
    start(what) {
      if (!timer) [since, stopped] = [performance.now(), false];
      clearInterval(timer);
      text.textContent = `${what} …`;
      timer = setInterval(() => {
        text.textContent = `${what} … ${Math.round((performance.now() - since) / 1000)} s`;
      }, 1000);
      line.classList.remove("resting");
      line.hidden = false;
    },
    /** The work is done; the line keeps its space, so that nothing jumps. */
    end() {
      clearInterval(timer);
      timer = null;
      line.classList.add("resting");
    },
    /** Whether the reader has cancelled it. */
    isCancelled: () => stopped,
  };
}
