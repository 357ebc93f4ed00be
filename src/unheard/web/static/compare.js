/** The view that compares two items. */

import { makeAnswerArea, onPress } from "./answer.js";
import { about, ask } from "./api.js";
import { describeAssumption, readAssumption } from "./assumption.js";
import { drawChart, saveChart } from "./charts.js";
import { makeCountFields, readCounts } from "./counts.js";
import { byId, fillParagraphs, fillTable } from "./dom.js";
import { saveCsv } from "./downloads.js";
import { answerLatest } from "./latest.js";
import {
  computeAverage,
  Mistake,
  writePercent,
  writeRange,
  writeRating,
  readOptional,
  readScale,
  whenReadable,
  writeWhole,
  widthOf,
} from "./numbers.js";
import { makeScaleChoice } from "./scale.js";
import { state } from "./state.js";

const WHICH = ["a", "b"];
const DIFFERENCES = [
  ["separate", "separate participation"],
  ["shared", "shared participation"],
];

/** @param {() => void} changed  Called when the reader changes something. */
export function initCompare(changed) {
  const mine = state.compare;
  const area = makeAnswerArea(byId("compare-answer"), byId("compare-problem"));
  let shown = null;
  let example = null;

  const scale = makeScaleChoice(byId("compare-scale"), byId("compare-own"), (text) => {
    mine.scale = text;
    onScale((values) => (mine.counts = fields.map((field) => field.rescale(values))));
    changed();
  });
  const names = WHICH.map((which) => byId(`compare-name-${which}`));
  const people = WHICH.map((which) => byId(`compare-n-${which}`));
  const fields = WHICH.map((which, i) =>
    makeCountFields(byId(`compare-counts-${which}`), i ? "second, " : "first, ", (counts, problem) => {
      mine.counts[i] = counts;
      showHelp();
      if (problem) refuse(problem);
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
    const n = mine.n.map((text) => readOptional(text, "Enter the number of people, or leave both fields empty."));
    const known = n.filter((value) => value !== undefined).length;
    if (known === 1) {
      throw new Mistake("Enter the number of people of both items, or of neither.");
    }
    return {
      ...{ a, b, names: readNames(mine), scale: readScale(mine.scale) },
      ...(known ? { n } : {}),
      ...readAssumption(),
    };
  }

  const answers = answerLatest(async (asked, signal) => {
    area.begin();
    try {
      const answer = await ask("compare", asked, { signal });
      shown = { asked, answer };
      showAnswer(answer);
      area.succeed();
      fields.forEach((field) => field.mark(null));
      await drawChart(byId("compare-chart"), "compare/chart", asked, signal);
    } catch (error) {
      refuse(error);
    }
  });

  function refuse(error) {
    area.fail(error);
    fields.forEach((field, i) => field.mark(error, WHICH[i]));
  }

  function onScale(use) {
    whenReadable(mine.scale, use);
    showHelp();
  }

  function showHelp() {
    const isExample = example && mine.counts.map(String).join() === Object.values(example).join();
    byId("compare-about").textContent =
      (isExample ? "Example data: two hotels with the same average. " : "") +
      "Counts, lowest rating first. Paste a row or column of numbers into any field to fill all fields.";
  }

  onPress(byId("compare-csv"), byId("compare-problem"), async () =>
    saveCsv(listRows(shown), "comparison.csv"),
  );
  onPress(byId("compare-png"), byId("compare-problem"), async () =>
    saveChart("compare/chart", question(), "comparison.png"),
  );

  /** Begin with the server's example, unless the address holds counts. */
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
        refuse(error);
      }
    },
  };
}

/** Read the names of the items; the chart requires some. */
function readNames({ names }) {
  return names.map((name, i) => name.trim() || (i ? "Second" : "First"));
}

function showAnswer(answer) {
  describeAssumption(answer.assumption.words);
  // The last sentence is the assumption, which the panel shows already.
  const sentences = answer.words.slice(0, -1);
  byId("compare-headline").textContent = answer.leader === null ? sentences.shift() : writeHeadline(answer);
  fillParagraphs(byId("compare-text"), sentences);
  const width = widthOf(answer.scale);
  const confidence = `${writePercent(answer.level)} confidence interval`;
  const ends = (one) => [
    writeRating(one.estimate, width),
    writeRange(one.lower, one.upper, width),
    writeRange(one.ci_lower, one.ci_upper, width),
  ];
  fillTable(
    byId("compare-items"),
    "compare-items-caption",
    "Each item",
    ["Item", "Ratings", "Average", "Estimate", "Bounds", confidence],
    WHICH.map((which) => answer[which]).map((one) => [
      one.name,
      writeWhole(one.counts.reduce((sum, count) => sum + count, 0)),
      writeRating(computeAverage(one.counts, answer.scale), width),
      ...ends(one),
    ]),
  );
  fillTable(
    byId("compare-differences"),
    "compare-differences-caption",
    `Difference: ${answer.a.name} − ${answer.b.name}`,
    ["Assuming", "Estimate", "Bounds", confidence],
    DIFFERENCES.map(([kind, label]) => [label, ...ends(answer[kind])]),
  );
}

/** Write which item rates higher, then the condition. */
function writeHeadline({ a, b, leader, separate, shared }) {
  const [first, second] = leader === "a" ? [a, b] : [b, a];
  const holds = (low, high) => (leader === "a" ? low > 0 : high < 0);
  const error = ({ ci_lower, ci_upper }) =>
    holds(ci_lower, ci_upper) ? "even with sampling error" : "ignoring sampling error";
  const higher = `${first.name} rates higher than ${second.name}`;
  if (holds(separate.lower, separate.upper)) {
    return `${higher} if your assumption holds, ${error(separate)}.`;
  }
  if (holds(shared.lower, shared.upper)) {
    return `${higher} if both have the same participation, ${error(shared)}; if not, the order is undecided.`;
  }
  return `The order is undecided: ${first.name} is ahead, but non-respondents could reverse it.`;
}

/** List the answer as rows of a table: both items, then both differences. */
function listRows({ asked, answer }) {
  const { a, b, scale, level } = answer;
  const sum = (counts) => counts.reduce((total, count) => total + count, 0);
  const row = (what, { estimate, lower, upper, ci_lower, ci_upper }, known = {}) => ({
    what,
    n_ratings: known.counts && sum(known.counts),
    n: known.n,
    average: known.counts && computeAverage(known.counts, scale),
    ...{ estimate, lower, upper, ci_lower, ci_upper, level },
    ...{ q: asked.q, quiet: asked.quiet, floor: asked.floor },
  });
  const rows = [
    ...[a, b].map((one) => row(one.name, one, one)),
    ...DIFFERENCES.map(([kind, label]) => row(`${a.name} - ${b.name}: ${label}`, answer[kind])),
  ];
  return [Object.keys(rows[0]), ...rows.map((one) => Object.values(one))];
}
