/** The view of a table of many items. */

import { makeAnswerArea, onPress } from "./answer.js";
import { about, ask, isAbort, send } from "./api.js";
import { describeAssumption, readAssumption } from "./assumption.js";
import { chooseTheme, drawTableChart, requireCharts } from "./charts.js";
import { byId, el, fillNotes, fillParagraphs } from "./dom.js";
import { save } from "./downloads.js";
import { makeExampleFile } from "./example.js";
import { acceptDrops, readFile, readPasted } from "./files.js";
import { answerLatest, debounce } from "./latest.js";
import { layOutColumns } from "./layout.js";
import { addLearning } from "./learn.js";
import { Mistake, writePlural, readOptional, writeScale, writeWhole } from "./numbers.js";
import { makeRankingTable, writeName } from "./ranking.js";
import { findChoices, makeReading, offerReading } from "./reading.js";
import { EXAMPLE, state } from "./state.js";
import { makeProgressLine } from "./working.js";

const REST = 250;
const CHARTED = 30;
const SHARED_MEANS =
  "People with the same opinion are equally likely to respond, whichever item they rate. If that " +
  "is doubtful, uncheck it: each item then has a participation of its own, and less is settled.";
/** Statuses of a table that cannot be read, however often it is sent. */
const UNREADABLE = [413, 415, 422];

/**
 * @param {() => void} changed  Called when the reader changes something.
 * @param {(view: string) => void} goTo
 */
export function initTable(changed, goTo) {
  const mine = state.table;
  const alert = byId("table-problem");
  const area = makeAnswerArea(byId("table-answer"), alert);
  const progress = makeProgressLine(() => answers.stop());
  const ranking = makeRankingTable(byId("table-rows"), openItem);
  let chosen = null; // the table, and once it has been inspected what its columns mean
  let shown = null;

  /** Begin with a table. */
  async function take(make) {
    if (state.view !== "table") goTo("table");
    try {
      const source = make();
      await checkSize(source);
      chosen = { source, layout: null, reading: makeReading() };
      clear();
      byId("table-reading").hidden = true;
      area.ask();
      answers.ask();
    } catch (error) {
      byId("source-problem").textContent = error.message;
    }
  }

  /** Read the table again, in another way. */
  function reread() {
    chosen = { ...chosen, layout: null }; // what is being read in the old way is not for this one
    clear();
    area.ask();
    answers.ask();
  }

  /** Remove everything about the last table. */
  function clear() {
    byId("source-problem").textContent = alert.textContent = "";
    byId("table-layout").hidden = byId("table-answer").hidden = true;
    byId("table-layout").replaceChildren();
    byId("table-learning").replaceChildren();
  }

  /** There is no answer about a table: keep the table, unless it cannot be read. */
  async function refuse(error, table) {
    if (table !== chosen) return;
    const choices = table.layout ? null : findChoices(error);
    if (choices) {
      byId("source-problem").textContent = error.message;
      const { options } = await about();
      offerReading(byId("table-reading"), table.reading, choices, options, reread);
      return;
    }
    if (!table.layout && UNREADABLE.includes(error.status)) {
      chosen = null;
      byId("source-problem").textContent = error.message;
      return;
    }
    const isCancelled = isAbort(error) && progress.isCancelled();
    area.fail(isCancelled ? new Mistake("Cancelled. Your next change tries again.") : error);
    table.layout?.reveal(error.argument);
  }

  /** Inspect a new table, then rank its items. */
  const answers = answerLatest(async (_, signal) => {
    const table = chosen; // another may be chosen in the meantime
    if (!table) return; // it could not be read
    const { source } = table;
    const settings = { type: source.type, body: source.body, signal };
    area.begin();
    try {
      if (!table.layout) {
        byId("table-chart").replaceChildren();
        progress.start(`Reading ${source.name}`);
        const asked = { ...settings, query: table.reading };
        const found = await (await send("inspect", asked)).json();
        const { options } = await about();
        if (table !== chosen) return;
        if (!found.has_header) table.reading.header = "none";
        table.notes = found.notes;
        offerReading(byId("table-reading"), table.reading, found, options, reread);
        table.layout = layOutColumns(byId("table-layout"), { source, found, options }, changed);
        addQuestions(options);
        addLearning(byId("table-learning"), { source, found, options, layout: table.layout }, changed);
      }
      progress.start("Ranking the items");
      const query = question({ ...table.reading, ...table.layout.read() });
      const answer = await (await send("rank", { ...settings, query })).json();
      const facts = await about();
      if (table !== chosen) return;
      shown = { source, answer, query, items: listItemColumns(answer, query), notes: table.notes };
      showAnswer(shown, facts, ranking);
      area.succeed();
      if (!table.isShown) byId("table-text").scrollIntoView({ block: "nearest" });
      table.isShown = true;
      progress.start("Drawing the chart");
      const charted = { ...settings, query: { ...query, top: CHARTED } };
      await drawTableChart(byId("table-chart"), "rank/chart", charted);
    } catch (error) {
      await refuse(error, table);
    } finally {
      progress.end();
    }
  });

  function question(layout) {
    const k = readOptional(mine.k, "Enter a number of items, such as 3, or leave the field empty.");
    return { ...layout, ...readAssumption(), k, shared: mine.shared };
  }

  /** Add the questions that are not about columns. */
  function addQuestions({ k, shared }) {
    const top = el("input", { type: "text", id: "table-k", inputmode: "numeric", autocomplete: "off" });
    top.addEventListener("input", () => {
      mine.k = top.value;
      changed();
    });
    const one = el("input", { type: "checkbox", id: "table-shared", "aria-describedby": "shared-means" });
    one.addEventListener("change", () => {
      mine.shared = one.checked;
      changed();
    });
    const hint = el("span", { class: "hint" }, "number of items, optional");
    const topLabel = el("label", { for: "table-k" }, `${k.label} `, hint);
    const means = el("small", { id: "shared-means" }, SHARED_MEANS);
    const check = el("div", { class: "grows" }, el("label", {}, one, ` ${shared.label}`), means);
    const fields = el("div", { class: "fields" }, el("div", { class: "field" }, topLabel, top), check);
    byId("table-layout").append(fields);
    show();
  }

  function show() {
    if (!byId("table-k")) return;
    byId("table-k").value = mine.k;
    byId("table-shared").checked = mine.shared;
  }

  /** Open an item as one rating, with its counts. */
  async function openItem(row) {
    const { source, items, answer } = shown;
    const { k, shared, n_column, bad_n, q, quiet, floor, ...query } = shown.query; // columns, rows, file
    try {
      progress.start("Counting the ratings");
      const rows = await (await send("counts", { ...source, query })).json();
      const found = rows.find((one) => items.every((name) => one[name] === row[name]));
      const isCount = (name) => name.startsWith("count_") && !items.includes(name);
      const counts = Object.keys(found).filter(isCount).map((name) => String(found[name]));
      Object.assign(state.one, {
        scale: writeScale(answer.scale),
        counts: counts.slice(0, answer.scale.length),
        n: row.n === null ? "" : String(row.n),
        from: { item: writeName(row, items), table: source.name },
      });
      goTo("one");
    } catch (error) {
      alert.textContent = error.message; // the ranking is still right
    } finally {
      progress.end();
    }
  }

  async function download(path, name, settings, further = {}) {
    const query = { ...shown.query, ...further };
    const response = await send(path, { ...shown.source, ...settings, query });
    save(await response.blob(), name);
  }

  onPress(byId("table-csv"), alert, () => download("rank", "ranking.csv", { accept: "text/csv" }));
  onPress(byId("table-png"), alert, async () => {
    requireCharts();
    const look = { format: "png", theme: chooseTheme(), top: CHARTED };
    await download("rank/chart", "ranking.png", {}, look);
  });
  onPress(byId("table-report"), alert, async () => {
    requireCharts();
    await download("report", "report.html", {}, { name: shown.source.name });
  });

  byId("table-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) take(() => readFile(file));
    event.target.value = ""; // so that the same file can be chosen again
  });
  byId("table-example").addEventListener("click", () => take(() => readFile(makeExampleFile())));
  byId("table-use").addEventListener("click", () =>
    take(() => readPasted(byId("table-paste").value)),
  );
  acceptDrops(byId("drop"), (file) => take(() => readFile(file)));

  const askLater = debounce(() => (chosen ? answers.ask() : askAssumption()), REST);

  return {
    show,
    ask() {
      area.ask();
      askLater();
    },
  };
}

/** Describe the assumption before there is a table. */
async function askAssumption() {
  try {
    const answer = await ask("estimate", { counts: EXAMPLE.map(Number), ...readAssumption() });
    describeAssumption(answer.assumption.words);
    byId("table-problem").textContent = "";
  } catch (error) {
    byId("table-problem").textContent = error.message;
  }
}

async function checkSize({ name, body }) {
  const most = (await about()).limits.bytes;
  if (body.size > most) {
    const found = `“${name}” has ${writeSize(body.size)}.`;
    throw new Mistake(`${found} This server accepts up to ${writeSize(most)}.`);
  }
}

function writeSize(bytes) {
  return bytes < 2 ** 20 ? writePlural(bytes, "byte") : `${writeWhole(Math.round(bytes / 2 ** 20))} MiB`;
}

/** State how much the server accepts. */
export function showLimits({ limits }) {
  const most = `${writeSize(limits.bytes)} and ${writeWhole(limits.rows)} rows`;
  byId("table-limits").textContent =
    `Or drop a file anywhere on this page: CSV, Excel, OpenDocument, Parquet or JSON lines, up to ${most}.`;
}

/** List the columns that name items in an answer: those before the numbers. */
function listItemColumns({ rows }, query) {
  const names = Object.keys(rows[0] ?? {});
  return rows.length ? names.slice(0, names.indexOf("n_ratings")) : [query.item];
}

function showAnswer({ answer, items, notes: read }, facts, ranking) {
  describeAssumption(answer.assumption.words);
  const [first, ...rest] = answer.words;
  byId("table-headline").textContent = first;
  fillParagraphs(byId("table-text"), rest);
  fillParagraphs(byId("table-meanings"), answer.meanings);
  const notes = new Set(answer.rows.flatMap((row) => row.notes));
  fillNotes(byId("table-notes"), [
    ...new Set([...read, ...answer.messages]), // how the file was read is said by both
    ...[...notes].map((note) => `${note}: ${facts.notes[note] ?? note}.`),
  ]);
  ranking.show(answer, items);
}
