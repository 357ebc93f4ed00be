/** For questions that come faster than answers. */

/**
 * Answer only the newest question. One answer is under way at a time, so answers keep their order;
 * the newest question waits for it, and those between are dropped. An answer that takes longer than
 * `patience` is aborted if a question waits. Aborting earlier would not help: the slider would move
 * without any answer, and each abort costs the server a worker.
 * @template Q
 * @param {(question: Q, signal: AbortSignal) => Promise<void>} answer  Deals with its own errors.
 * @param {number} patience  Milliseconds.
 * @returns {{ask: (question: Q) => void, stop: () => void}}
 */
export function answerLatest(answer, patience = 5000) {
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

/** Delay calls of a function until none has come for so many milliseconds. */
export function debounce(call, milliseconds) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}
