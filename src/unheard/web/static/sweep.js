/** Below one rating: the bounds for every q, and the breakdown q of a claim. */

import { makeAnswerArea } from "./answer.js";
import { ask } from "./api.js";
import { drawChart } from "./charts.js";
import { byId, fillParagraphs } from "./dom.js";
import { answerLatest, debounce } from "./latest.js";
import { readOptional } from "./numbers.js";
import { state } from "./state.js";

/** Milliseconds; the chart changes little with q, so it may wait until the slider rests. */
const REST = 60;
const FLOORS = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01];

/** @param {() => void} changed */
export function initSweep(changed) {
  const mine = state.one;
  const area = makeAnswerArea(byId("sweep-answer"), byId("sweep-problem"));
  byId("one-above").addEventListener("input", (event) => {
    mine.above = event.target.value;
    changed();
  });

  const answers = answerLatest(async (asked, signal) => {
    area.begin();
    try {
      const above = readOptional(mine.above, "Enter a rating, or leave the field empty.");
      const { q, floor, ...rest } = asked;
      const question = { ...rest, above, floor: floor === undefined ? undefined : FLOORS };
      const answer = await ask("sweep", question, { signal });
      fillParagraphs(byId("sweep-text"), answer.words);
      area.succeed();
      await drawChart(byId("sweep-chart"), "sweep/chart", { ...question, at: q ?? floor }, signal);
    } catch (error) {
      area.fail(error);
    }
  });

  const askLater = debounce(answers.ask, REST);

  return {
    show() {
      byId("one-above").value = mine.above;
    },
    ask(asked) {
      area.ask();
      askLater(asked);
    },
    /** The chart no longer answers the question. */
    dim() {
      area.ask();
      byId("sweep-answer").classList.add("stale");
    },
  };
}
