/** Below one rating: the answer for every q, and the q that overturns a claim. */

import { answerArea } from "./answer.js";
import { ask } from "./api.js";
import { drawChart } from "./charts.js";
import { byId, fillParagraphs } from "./dom.js";
import { latest, rested } from "./latest.js";
import { readOptional } from "./numbers.js";
import { state } from "./state.js";

/** The chart changes little with q, so it may wait until the slider rests. */
const REST = 60;
const FLOORS = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01];

/** @param {() => void} changed */
export function initSweep(changed) {
  const mine = state.one;
  const area = answerArea(byId("sweep-answer"), byId("sweep-problem"));
  byId("one-above").addEventListener("input", (event) => {
    mine.above = event.target.value;
    changed();
  });

  const answers = latest(async (asked, signal) => {
    area.begin();
    try {
      const above = readOptional(mine.above, "Say above which rating, or leave it empty.");
      const { q, floor, ...rest } = asked;
      const question = { ...rest, above, floor: floor === undefined ? undefined : FLOORS };
      const answer = await ask("sweep", question, { signal });
      fillParagraphs(byId("sweep-words"), answer.words);
      area.good();
      await drawChart(byId("sweep-chart"), "sweep/chart", { ...question, at: q ?? floor }, signal);
    } catch (error) {
      area.bad(error);
    }
  });

  const askRested = rested(answers.ask, REST);

  return {
    show() {
      byId("one-above").value = mine.above;
    },
    ask(asked) {
      area.ask();
      askRested(asked);
    },
    /** What is shown answers no longer what is asked. */
    dim() {
      area.ask();
      byId("sweep-answer").classList.add("stale");
    },
  };
}
