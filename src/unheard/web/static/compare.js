/** The view that compares two items. */

import { answerArea, onPress } from "./answer.js";
import { about, ask, post } from "./api.js";
import { assumption, sayAssumption } from "./assumption.js";
import { drawChart, theme } from "./charts.js";
import { countFields, readCounts } from "./counts.js";
import { byId, fillParagraphs, fillTable } from "./dom.js";
import { save, saveCsv } from "./downloads.js";
import { latest } from "./latest.js";
import {
  average,
  Mistake,
  percentText,
  rangeText,
  ratingText,
  readOptional,
  readScale,
  whenReadable,
  wholeText,
  widthOf,
} from "./numbers.js";
import { scaleChoice } from "./scale.js";
import { state } from "./state.js";

const WHICH = ["a", "b"];
const WAYS = [
  ["separate", "each its own participation"],
  ["shared", "one shared participation"],
];

/** @param {() => void} changed  Called when the reader has changed something. */
export function initCompare(changed) {
  const mine = state.compare;
  const area = answerArea(byId("compare-answer"), byId("compare-problem"));
  let shown = null;
  let example = null;

  const scale = scaleChoice(byId("compare-scale"), byId("compare-own"), (text) => {
    mine.scale = text;
    onScale((values) => (mine.counts = fields.map((field) => field.rescale(values))));
    changed();
  });
  const names = WHICH.map((which) => byId(`compare-name-${which}`));
  const people = WHICH.map((which) => byId(`compare-n-${which}`));
  const fields = WHICH.map((which, i) =>
    countFields(byId(`compare-counts-${which}`), i ? "second, " : "first, ", (counts, problem) => {
      mine.counts[i] = counts;
      sayWhose();
      if (problem) area.bad(problem);
      else changed();
    }),
  );
  WHICH.forEach((_, i) => {
    names[i].addEventListener("input", () => {
      mine.names[i] = names[i].value;
      changed();
    });
    people[i].addEventListener("input", () => {
      mine.n[i] = people[i].value;
      changed();
    });
  });

  function question() {
    const [a, b] = mine.counts.map(readCounts);
    const n = mine.n.map((text) => readOptional(text, "Say how many people there are."));
    const known = n.filter((value) => value !== undefined).length;
    if (known === 1) {
      throw new Mistake("Say how many people there are for both items, or for neither.");
    }
    return {
      ...{ a, b, names: namesOf(mine), scale: readScale(mine.scale) },
      ...(known ? { n } : {}),
      ...assumption(),
    };
  }

  const answers = latest(async (asked, signal) => {
    area.begin();
    try {
      const answer = await ask("compare", asked, { signal });
      shown = { asked, answer };
      showAnswer(answer);
      area.good();
      await drawChart(byId("compare-chart"), "compare/chart", asked, signal);
    } catch (error) {
      area.bad(error);
    }
  });

  function onScale(use) {
    whenReadable(mine.scale, use);
    sayWhose();
  }

  function sayWhose() {
    const isExample = example && mine.counts.map(String).join() === Object.values(example).join();
    byId("compare-about").textContent =
      (isExample ? "An example: two hotels with one average. " : "") +
      "Lowest rating first. Paste a row or a column of numbers into any field to fill all.";
  }

  onPress(byId("compare-csv"), byId("compare-problem"), async () =>
    saveCsv(csvRows(shown), "comparison.csv"),
  );
  onPress(byId("compare-png"), byId("compare-problem"), async () => {
    const query = { format: "png", theme: theme() };
    const response = await post("compare/chart", question(), { query });
    save(await response.blob(), "comparison.png");
  });

  /** Begin with the server's example, unless the address said otherwise. */
  async function begin() {
    example = (await about()).examples;
    if (mine.counts) return;
    mine.names = Object.keys(example);
    mine.counts = Object.values(example).map((counts) => counts.map(String));
    show();
  }

  function show() {
    if (!mine.counts) return;
    scale.show(mine.scale);
    onScale((values) => fields.forEach((field, i) => field.show(values, mine.counts[i])));
    WHICH.forEach((_, i) => {
      names[i].value = mine.names[i];
      people[i].value = mine.n[i];
    });
  }

  return {
    show,
    async ask() {
      area.ask();
      try {
        await begin();
        answers.ask(question());
      } catch (error) {
        area.bad(error);
      }
    },
  };
}

/** Names for the items, which need some. */
function namesOf({ names }) {
  return names.map((name, i) => name.trim() || (i ? "Second" : "First"));
}

function showAnswer(answer) {
  sayAssumption(answer.assumption.words);
  // The last sentence is the assumption, which stands beside it already.
  const words = answer.words.slice(0, -1);
  byId("compare-headline").textContent = answer.leader === null ? words.shift() : headline(answer);
  fillParagraphs(byId("compare-words"), words);
  const width = widthOf(answer.scale);
  const confidence = `${percentText(answer.level)} confidence`;
  const ends = (one) => [
    ratingText(one.estimate, width),
    rangeText(one.lower, one.upper, width),
    rangeText(one.ci_lower, one.ci_upper, width),
  ];
  fillTable(
    byId("compare-items"),
    "compare-items-caption",
    "Each item",
    ["Item", "Ratings", "Average", "Estimate", "Interval", confidence],
    WHICH.map((which) => answer[which]).map((one) => [
      one.name,
      wholeText(one.counts.reduce((sum, count) => sum + count, 0)),
      ratingText(average(one.counts, answer.scale), width),
      ...ends(one),
    ]),
  );
  fillTable(
    byId("compare-ways"),
    "compare-ways-caption",
    `${answer.a.name} less ${answer.b.name}`,
    ["If there is", "Estimate", "Interval", confidence],
    WAYS.map(([way, words]) => [words, ...ends(answer[way])]),
  );
}

/** Who is ahead under the assumption as it stands. */
function headline({ a, b, leader, separate, shared }) {
  const [first, second] = leader === "a" ? [a, b] : [b, a];
  const holds = (low, high) => (leader === "a" ? low > 0 : high < 0);
  const noise = ({ ci_lower, ci_upper }) =>
    holds(ci_lower, ci_upper) ? ", sampling noise included" : ", noise aside";
  const ahead = `${first.name} is ahead of ${second.name}`;
  if (holds(separate.lower, separate.upper)) return `${ahead}${noise(separate)}.`;
  if (holds(shared.lower, shared.upper)) {
    return `${ahead} if both have the same sort of crowd${noise(shared)}; otherwise it is open.`;
  }
  return `${first.name} may be ahead of ${second.name}, but the silent can turn it round.`;
}

/** The answer as a table: both items, then both differences. */
function csvRows({ asked, answer }) {
  const { a, b, scale, level } = answer;
  const sum = (counts) => counts.reduce((total, count) => total + count, 0);
  const row = (what, { estimate, lower, upper, ci_lower, ci_upper }, known = {}) => ({
    what,
    n_ratings: known.counts && sum(known.counts),
    n: known.n,
    average: known.counts && average(known.counts, scale),
    ...{ estimate, lower, upper, ci_lower, ci_upper, level },
    ...{ q: asked.q, quiet: asked.quiet, floor: asked.floor },
  });
  const rows = [
    ...[a, b].map((one) => row(one.name, one, one)),
    ...WAYS.map(([way, words]) => row(`${a.name} less ${b.name}: ${words}`, answer[way])),
  ];
  return [Object.keys(rows[0]), ...rows.map((one) => Object.values(one))];
}
