/** Questions that come faster than answers. */

/**
 * Make a function that answers the newest question only. One answer is under way at a time, so
 * answers keep their order; the newest question waits for it, and those between are forgotten. An
 * answer that takes longer than `patience` is given up for the question that waits. Giving up early
 * would not help: a slider would move and nothing with it, and the server loses a worker each time.
 * @template Q
 * @param {(question: Q, signal: AbortSignal) => Promise<void>} answer  Deals with its own errors.
 * @param {number} patience  Milliseconds.
 * @returns {{ask: (question: Q) => void, stop: () => void}}
 */
export function latest(answer, patience = 5000) {
  let running = null;
  let waiting = null;

  async function run(question) {
    running = { giveUp: new AbortController(), since: performance.now() };
    try {
      await answer(question, running.giveUp.signal);
    } finally {
      running = null;
      const next = waiting;
      waiting = null;
      if (next) run(...next);
    }
  }

  return {
    ask(question) {
      if (!running) {
        run(question);
        return;
      }
      waiting = [question];
      const { giveUp, since } = running;
      setTimeout(() => giveUp.abort(), Math.max(0, since + patience - performance.now()));
    },
    stop() {
      waiting = null;
      running?.giveUp.abort();
    },
  };
}

/** Make a function that calls another one when it has not been called for so many milliseconds. */
export function rested(call, milliseconds) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}
