/** The view about one rating. */

import { answerArea, onPress } from "./answer.js";
import { about, ask, post } from "./api.js";
import { assumption, sayAssumption } from "./assumption.js";
import { drawChart, theme } from "./charts.js";
import { countFields, readCounts } from "./counts.js";
import { byId, el, fillNotes } from "./dom.js";
import { save, saveCsv } from "./downloads.js";
import { latest } from "./latest.js";
import {
  average,
  percentText,
  plural,
  rangeText,
  ratingText,
  readOptional,
  readScale,
  whenReadable,
  widthOf,
} from "./numbers.js";
import { scaleChoice } from "./scale.js";
import { EXAMPLE, state } from "./state.js";
import { initSweep } from "./sweep.js";

const MISFITS = ["low_response", "high_response", "refuted"];

/**
 * @param {() => void} changed  Called when the reader has changed something.
 */
export function initOne(changed) {
  const mine = state.one;
  const area = answerArea(byId("one-answer"), byId("one-problem"));
  const sweep = initSweep(changed);
  let shown = null;

  const scale = scaleChoice(byId("one-scale"), byId("one-own"), (text) => {
    Object.assign(mine, { scale: text, from: null });
    onScale((values) => (mine.counts = fields.rescale(values)));
    changed();
  });
  const fields = countFields(byId("one-counts"), "", (counts, problem) => {
    Object.assign(mine, { counts, from: null });
    sayWhose();
    if (problem) refuse(problem);
    else changed();
  });
  byId("one-n").addEventListener("input", (event) => {
    mine.n = event.target.value;
    changed();
  });

  function question() {
    const counts = readCounts(mine.counts);
    const n = readOptional(mine.n, "Say how many people there are, or leave it empty.");
    return { counts, scale: readScale(mine.scale), n, ...assumption() };
  }

  const answers = latest(async (asked, signal) => {
    area.begin();
    try {
      const [answer, told] = await Promise.all([ask("estimate", asked, { signal }), about()]);
      shown = { asked, answer };
      showAnswer(answer, told);
      area.good();
      fields.mark(null);
      pictures.ask(asked);
      sweep.ask(asked);
    } catch (error) {
      refuse(error);
    }
  });

  // Apart, so that the numbers need not wait for a picture while the slider moves.
  const pictures = latest((asked, signal) =>
    drawChart(byId("one-chart"), "estimate/chart", asked, signal),
  );

  function refuse(error) {
    area.bad(error);
    fields.mark(error);
    sweep.dim();
  }

  function onScale(use) {
    whenReadable(mine.scale, use);
    sayWhose();
  }

  function sayWhose() {
    byId("one-about").replaceChildren(...whose(mine));
  }

  onPress(byId("one-csv"), byId("one-problem"), async () => saveCsv(csvRows(shown), "rating.csv"));
  onPress(byId("one-png"), byId("one-problem"), async () => {
    const query = { format: "png", theme: theme() };
    const response = await post("estimate/chart", question(), { query });
    save(await response.blob(), "rating.png");
  });
  onPress(byId("one-report"), byId("one-problem"), async () => {
    save(await (await report(question(), mine)).blob(), "rating.html");
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

/** Say whose counts these are, and how to put in others. */
function whose({ counts, scale, from }) {
  const how = "Lowest rating first. Paste a row or a column of numbers into any field to fill all.";
  if (from) return [el("strong", {}, `Ratings of ${from.item}, from ${from.table}. `), how];
  if (counts.join() === EXAMPLE.join() && scale === "1:5") {
    return [el("strong", {}, "These numbers are an example; type your own. "), how];
  }
  return [how];
}

function showAnswer(answer, told) {
  const [found] = answer.estimates;
  const mean = average(answer.counts, answer.scale);
  sayAssumption(answer.assumption.words);
  byId("one-headline").replaceChildren(...headline(answer, found, mean));
  byId("one-figures").replaceChildren(...figures(answer, found, mean, told));
  const notes = found.notes.map((flag) => sentence(told.notes[flag] ?? flag));
  if (answer.response) notes.push(answer.response.words);
  fillNotes(byId("one-notes"), notes);
}

/** The answer in plain words. */
function headline({ scale, n_ratings: seen }, found, mean) {
  const width = widthOf(scale);
  if (seen === 0) return ["Nobody has rated this: the mean can be anything on the scale."];
  if (found.notes.some((flag) => MISFITS.includes(flag))) {
    return ["The number of people and the assumption do not fit together."];
  }
  const strong = (value) => el("strong", {}, ratingText(value, width));
  const within = (low, high) =>
    ratingText(low, width) === ratingText(high, width)
      ? [strong(low)]
      : ["between ", strong(low), " and ", strong(high)];
  return [
    "If the assumption holds, the mean of everybody is ",
    ...[...within(found.lower, found.upper), ", noise aside; with sampling noise, "],
    ...[...within(found.ci_lower, found.ci_upper), ". The estimate is ", strong(found.estimate)],
    `; those who answered average ${ratingText(mean, width)}.`,
  ];
}

/** The numbers, each with its name and what it means. */
function figures({ scale, level, n, n_ratings: seen }, found, mean, told) {
  const width = widthOf(scale);
  const people = n === null ? "" : ` of ${plural(n, "person").replace("persons", "people")}`;
  return [
    ["Average", ratingText(mean, width), `of ${plural(seen, "rating")}${people}`],
    ["Estimate", ratingText(found.estimate, width), told.methods[found.method]],
    ["Interval", rangeText(found.lower, found.upper, width), "everything the assumption allows"],
    [
      `${percentText(level)} confidence interval`,
      rangeText(found.ci_lower, found.ci_upper, width),
      "with sampling noise",
    ],
  ].map(([name, value, means]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value, el("small", {}, means))),
  );
}

function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

/** The answer as a table, under the names that all of unheard uses. */
function csvRows({ asked, answer }) {
  const [found] = answer.estimates;
  const row = {
    n_ratings: answer.n_ratings,
    n: answer.n,
    average: average(answer.counts, answer.scale),
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

/** Ask for the report on a table of one row. */
function report({ counts, scale, n, ...assumed }, { from, above }) {
  const columns = scale.map((value) => `count_${value}`);
  const row = { item: from?.item ?? "This rating" };
  columns.forEach((name, i) => (row[name] = counts[i]));
  const query = { item: "item", counts: columns.join(), scale: scale.join(), n, ...assumed, above };
  const stated = Object.entries(assumed).flatMap(([name, value]) => [`--${name}`, value]);
  const words = ["unheard estimate", ...counts, ...stated, "--scale", scale.join()];
  if (n !== undefined && n !== null) words.push("--n", n);
  const command = words.join(" ").slice(0, 4000); // that the server takes
  const named = { name: "the counts typed", title: row.item, command };
  return post("report", [row], { query: { ...query, ...named } });
}
