/** The view of one rating. */

import { makeAnswerArea, onPress } from "./answer.js";
import { about, ask, post } from "./api.js";
import { describeAssumption, readAssumption } from "./assumption.js";
import { drawChart, requireCharts, saveChart } from "./charts.js";
import { makeCountFields, readCounts } from "./counts.js";
import { byId, el, fillNotes } from "./dom.js";
import { save, saveCsv } from "./downloads.js";
import { answerLatest } from "./latest.js";
import {
  computeAverage,
  writePercent,
  writePlural,
  writeRange,
  writeRating,
  readOptional,
  readScale,
  whenReadable,
  widthOf,
} from "./numbers.js";
import { makeScaleChoice } from "./scale.js";
import { EXAMPLE, state } from "./state.js";
import { initSweep } from "./sweep.js";

const MISFITS = ["low_response", "high_response", "refuted"];

/**
 * @param {() => void} changed  Called when the reader changes something.
 */
export function initOne(changed) {
  const mine = state.one;
  const area = makeAnswerArea(byId("one-answer"), byId("one-problem"));
  const sweep = initSweep(changed);
  let shown = null;

  const scale = makeScaleChoice(byId("one-scale"), byId("one-own"), (text) => {
    Object.assign(mine, { scale: text, from: null });
    onScale((values) => (mine.counts = fields.rescale(values)));
    changed();
  });
  const fields = makeCountFields(byId("one-counts"), "", (counts, problem) => {
    Object.assign(mine, { counts, from: null });
    showHelp();
    if (problem) refuse(problem);
    else changed();
  });
  byId("one-n").addEventListener("input", (event) => {
    mine.n = event.target.value;
    changed();
  });

  function question() {
    const counts = readCounts(mine.counts);
    const n = readOptional(mine.n, "Enter the number of people, or leave the field empty.");
    return { counts, scale: readScale(mine.scale), n, ...readAssumption() };
  }

  const answers = answerLatest(async (asked, signal) => {
    area.begin();
    try {
      const [answer, facts] = await Promise.all([ask("estimate", asked, { signal }), about()]);
      shown = { asked, answer };
      showAnswer(answer, facts);
      area.succeed();
      fields.mark(null);
      charts.ask(asked);
      sweep.ask(asked);
    } catch (error) {
      refuse(error);
    }
  });

  // Separate, so that the numbers need not wait for the chart while the slider moves.
  const charts = answerLatest((asked, signal) =>
    drawChart(byId("one-chart"), "estimate/chart", asked, signal),
  );

  function refuse(error) {
    area.fail(error);
    fields.mark(error);
    sweep.dim();
  }

  function onScale(use) {
    whenReadable(mine.scale, use);
    showHelp();
  }

  function showHelp() {
    byId("one-about").replaceChildren(...writeHelp(mine));
  }

  onPress(byId("one-csv"), byId("one-problem"), async () => saveCsv(listRows(shown), "rating.csv"));
  onPress(byId("one-png"), byId("one-problem"), async () =>
    saveChart("estimate/chart", question(), "rating.png"),
  );
  onPress(byId("one-report"), byId("one-problem"), async () => {
    requireCharts();
    save(await (await requestReport(question(), mine)).blob(), "rating.html");
  });

  return {
    show() {
      scale.show(mine.scale);
      onScale((values) => fields.show(values, mine.counts));
      byId("one-n").value = mine.n;
      sweep.show();
    },
    ask() {
      area.ask();
      try {
        answers.ask(question());
      } catch (error) {
        refuse(error);
      }
    },
  };
}

/** Say where the counts come from, and how to enter others. */
function writeHelp({ counts, scale, from }) {
  const how = "Paste a row or column of numbers into any field to fill all fields.";
  if (from) return [el("strong", {}, `Ratings of ${from.item}, from ${from.table}. `), how];
  if (counts.join() === EXAMPLE.join() && scale === "1:5") {
    return [el("strong", {}, "Example data; enter your own. "), how];
  }
  return [how];
}

function showAnswer(answer, facts) {
  const [found] = answer.estimates;
  const mean = computeAverage(answer.counts, answer.scale);
  describeAssumption(answer.assumption.words);
  byId("one-headline").replaceChildren(...writeHeadline(answer, found, mean));
  byId("one-figures").replaceChildren(...listFigures(answer, found, mean, facts));
  const notes = found.notes.map((note) => writeSentence(facts.notes[note] ?? note));
  if (answer.response) notes.push(answer.response.words);
  fillNotes(byId("one-notes"), notes);
}

/** Write the finding, then its condition. */
function writeHeadline({ scale, n_ratings: seen }, found, mean) {
  const width = widthOf(scale);
  if (seen === 0) return ["There are no ratings: the mean can be anywhere on the scale."];
  if (found.notes.some((note) => MISFITS.includes(note))) {
    return ["The number of people contradicts your assumption."];
  }
  const strong = (value) => el("strong", {}, writeRating(value, width));
  const within = (low, high) =>
    writeRating(low, width) === writeRating(high, width)
      ? [strong(low)]
      : ["between ", strong(low), " and ", strong(high)];
  return [
    "The mean of everyone is ",
    ...[...within(found.lower, found.upper), " if your assumption holds, "],
    ...["or ", ...within(found.ci_lower, found.ci_upper), " with sampling error. "],
    ...["The estimate is ", strong(found.estimate)],
    `; respondents average ${writeRating(mean, width)}.`,
  ];
}

/** List the numbers, each with its name and meaning. */
function listFigures({ scale, level, n, n_ratings: seen }, found, mean, facts) {
  const width = widthOf(scale);
  const people = n === null ? "" : ` of ${writePlural(n, "person").replace("persons", "people")}`;
  return [
    ["Average", writeRating(mean, width), `of ${writePlural(seen, "rating")}${people}`],
    ["Estimate", writeRating(found.estimate, width), facts.methods[found.method]],
    ["Bounds", writeRange(found.lower, found.upper, width), "all that your assumption allows"],
    [
      `${writePercent(level)} confidence interval`,
      writeRange(found.ci_lower, found.ci_upper, width),
      "allows for sampling error",
    ],
  ].map(([name, value, means]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value, el("small", {}, means))),
  );
}

function writeSentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** List the answer as rows of a table, with the column names that all of unheard uses. */
function listRows({ asked, answer }) {
  const [found] = answer.estimates;
  const row = {
    n_ratings: answer.n_ratings,
    n: answer.n,
    average: computeAverage(answer.counts, answer.scale),
    ...found,
    notes: found.notes.join(" "),
    level: answer.level,
    q: asked.q,
    quiet: asked.quiet,
    floor: asked.floor,
    assumption: answer.assumption.words,
  };
  answer.scale.forEach((value, i) => (row[`count_${value}`] = answer.counts[i]));
  return [Object.keys(row), Object.values(row)];
}

/** Request the report on a table of one row. */
function requestReport({ counts, scale, n, ...assumed }, { from, above }) {
  const columns = scale.map((value) => `count_${value}`);
  const row = { item: from?.item ?? "This rating" };
  columns.forEach((name, i) => (row[name] = counts[i]));
  const query = { item: "item", counts: columns.join(), scale: scale.join(), n, ...assumed, above };
  const options = Object.entries(assumed).flatMap(([name, value]) => [`--${name}`, value]);
  const words = ["unheard estimate", ...counts, ...options, "--scale", scale.join()];
  if (n !== undefined && n !== null) words.push("--n", n);
  const command = words.join(" ").slice(0, 4000); // the server accepts no more
  const named = { name: "the counts entered", title: row.item, command };
  return post("report", [row], { query: { ...query, ...named } });
}
