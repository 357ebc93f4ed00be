/** The view about a table of many items. */

import { answerArea, onPress } from "./answer.js";
import { about, ask, isAbort, send } from "./api.js";
import { assumption, sayAssumption } from "./assumption.js";
import { drawTableChart, theme } from "./charts.js";
import { byId, el, fillNotes, fillOptions, fillParagraphs } from "./dom.js";
import { save } from "./downloads.js";
import { exampleFile } from "./example.js";
import { acceptDrops, fileSource, pastedSource } from "./files.js";
import { latest, rested } from "./latest.js";
import { layColumns } from "./layout.js";
import { Mistake, plural, readOptional, scaleText, wholeText } from "./numbers.js";
import { nameOf, rankingTable } from "./ranking.js";
import { EXAMPLE, state } from "./state.js";
import { workingLine } from "./working.js";

const REST = 250;
const CHARTED = 30;
const CROWDS = [
  ["one", "one crowd rates them all"],
  ["separate", "each item has its own crowd"],
];
const CROWDS_MEAN =
  "One crowd: people with the same opinion respond equally often, whichever item it is about. " +
  "Separate crowds: each item may have its own pattern of silence, and far less is settled.";
/** Statuses that say that a file will never be read, however often it is sent. */
const UNREADABLE = [413, 415, 422];

/**
 * @param {() => void} changed  Called when the reader has changed something.
 * @param {(view: string) => void} goTo
 */
export function initTable(changed, goTo) {
  const mine = state.table;
  const alert = byId("table-problem");
  const area = answerArea(byId("table-answer"), alert);
  const working = workingLine(() => answers.stop());
  const ranking = rankingTable(byId("table-rows"), openItem);
  let chosen = null; // the table, and once it was looked into what its columns mean
  let shown = null;

  /** Begin with a table. */
  async function take(make) {
    if (state.view !== "table") goTo("table");
    try {
      const source = make();
      await checkSize(source);
      chosen = { source, layout: null };
      clear();
      area.ask();
      answers.ask();
    } catch (error) {
      byId("source-problem").textContent = error.message;
    }
  }

  /** Take away all that is about the table before. */
  function clear() {
    byId("source-problem").textContent = alert.textContent = "";
    byId("table-layout").hidden = byId("table-answer").hidden = true;
    byId("table-layout").replaceChildren();
  }

  /** There is no answer about a table: keep what is known of it, unless it cannot be read. */
  function refuse(error, table) {
    if (table !== chosen) return;
    if (!table.layout && UNREADABLE.includes(error.status)) {
      chosen = null;
      byId("source-problem").textContent = error.message;
      return;
    }
    const cancelled = isAbort(error) && working.cancelled();
    area.bad(cancelled ? new Mistake("Cancelled. The next change asks again.") : error);
  }

  /** Look into a table that is new, then rank its items. */
  const answers = latest(async (_, signal) => {
    const table = chosen; // another may be chosen in the meantime
    if (!table) return; // it could not be read
    const { source } = table;
    const settings = { type: source.type, body: source.body, signal };
    area.begin();
    try {
      if (!table.layout) {
        byId("table-chart").replaceChildren();
        working.start(`Reading ${source.name}`);
        const found = await (await send("inspect", settings)).json();
        if (table !== chosen) return;
        table.layout = layColumns(byId("table-layout"), source, found, changed);
        addQuestions();
      }
      working.start("Ranking the items");
      const query = question(table.layout());
      const answer = await (await send("rank", { ...settings, query })).json();
      const told = await about();
      if (table !== chosen) return;
      shown = { source, answer, query, items: itemsOf(answer, query) };
      showAnswer(shown, told, ranking);
      area.good();
      working.start("Drawing");
      const charted = { ...settings, query: { ...query, top: CHARTED } };
      await drawTableChart(byId("table-chart"), "rank/chart", charted);
    } catch (error) {
      refuse(error, table);
    } finally {
      working.end();
    }
  });

  function question(layout) {
    const k = readOptional(mine.k, "Say how many places, such as 3, or leave it empty.");
    return { ...layout, ...assumption(), k, shared: mine.crowd === "one" };
  }

  /** The questions that no column answers: how many are at the top, and who rates the items. */
  function addQuestions() {
    const kind = { type: "text", inputmode: "numeric", autocomplete: "off" };
    const field = el("input", { id: "table-k", ...kind });
    field.value = mine.k;
    field.addEventListener("input", () => {
      mine.k = field.value;
      changed();
    });
    const optional = el("span", { class: "hint" }, "optional");
    const label = el("label", { for: "table-k" }, "Who is in the top …? ", optional);
    const fields = byId("table-layout").querySelector(".fields");
    fields.append(el("div", { class: "field" }, label, field), crowdField());
  }

  function crowdField() {
    const input = el("select", { id: "table-crowd", "aria-describedby": "table-crowd-means" });
    fillOptions(input, CROWDS, mine.crowd);
    input.addEventListener("change", () => {
      mine.crowd = input.value;
      changed();
    });
    const label = el("label", { for: "table-crowd" }, "Who rates the items?");
    const means = el("p", { class: "hint", id: "table-crowd-means" }, CROWDS_MEAN);
    return el("div", { class: "field" }, label, input, means);
  }

  /** Open an item as one rating, with its counts. */
  async function openItem(row) {
    const { source, items, answer } = shown;
    const { k, shared, ...query } = shown.query; // counting knows no order
    try {
      working.start("Counting");
      const rows = await (await send("counts", { ...source, query })).json();
      const found = rows.find((one) => items.every((name) => one[name] === row[name]));
      const isCount = (name) => name.startsWith("count_") && !items.includes(name);
      const counts = Object.keys(found).filter(isCount).map((name) => String(found[name]));
      Object.assign(state.one, {
        scale: scaleText(answer.scale),
        counts: counts.slice(0, answer.scale.length),
        n: row.n === null ? "" : String(row.n),
        from: { item: nameOf(row, items), table: source.name },
      });
      goTo("one");
    } catch (error) {
      alert.textContent = error.message; // the ranking is still right
    } finally {
      working.end();
    }
  }

  async function download(path, name, settings, further = {}) {
    const query = { ...shown.query, ...further };
    const response = await send(path, { ...shown.source, ...settings, query });
    save(await response.blob(), name);
  }

  onPress(byId("table-csv"), alert, () => download("rank", "ranking.csv", { accept: "text/csv" }));
  onPress(byId("table-png"), alert, () =>
    download("rank/chart", "ranking.png", {}, { format: "png", theme: theme(), top: CHARTED }),
  );
  onPress(byId("table-report"), alert, () =>
    download("report", "report.html", {}, { name: shown.source.name }),
  );

  byId("table-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) take(() => fileSource(file));
    event.target.value = ""; // so that the same file can be chosen again
  });
  byId("table-example").addEventListener("click", () => take(() => fileSource(exampleFile())));
  byId("table-use").addEventListener("click", () =>
    take(() => pastedSource(byId("table-paste").value)),
  );
  acceptDrops(byId("drop"), (file) => take(() => fileSource(file)));

  const askRested = rested(() => (chosen ? answers.ask() : sayWords()), REST);

  return {
    show() {
      const field = byId("table-k");
      if (field) field.value = mine.k;
      const crowd = byId("table-crowd");
      if (crowd) crowd.value = mine.crowd;
    },
    ask() {
      area.ask();
      askRested();
    },
  };
}

/** Say the assumption though there is nothing yet to apply it to. */
async function sayWords() {
  try {
    const answer = await ask("estimate", { counts: EXAMPLE.map(Number), ...assumption() });
    sayAssumption(answer.assumption.words);
    byId("table-problem").textContent = "";
  } catch (error) {
    byId("table-problem").textContent = error.message;
  }
}

async function checkSize({ name, body }) {
  const most = (await about()).limits.bytes;
  if (body.size > most) {
    const found = `${name} has ${sizeText(body.size)}.`;
    throw new Mistake(`${found} This server takes up to ${sizeText(most)}.`);
  }
}

function sizeText(bytes) {
  return bytes < 2 ** 20 ? plural(bytes, "byte") : `${wholeText(Math.round(bytes / 2 ** 20))} MiB`;
}

/** State beside the file chooser how much the server takes. */
export function sayLimits({ limits }) {
  const most = [sizeText(limits.bytes), `${wholeText(limits.rows)} rows`];
  byId("table-limits").textContent =
    `CSV, TSV, Parquet or JSON lines; up to ${most.join(", ")}, ${wholeText(limits.items)} items.`;
}

/** The columns that name items, as the answer has them: those before the numbers. */
function itemsOf({ rows }, query) {
  const names = Object.keys(rows[0] ?? {});
  return rows.length ? names.slice(0, names.indexOf("n_ratings")) : [query.item];
}

function showAnswer({ answer, items }, told, ranking) {
  sayAssumption(answer.assumption.words);
  const [first, ...rest] = answer.words;
  byId("table-headline").textContent = first;
  fillParagraphs(byId("table-words"), rest);
  fillParagraphs(byId("table-meanings"), answer.meanings);
  const notes = new Set(answer.rows.flatMap((row) => row.notes));
  fillNotes(byId("table-notes"), [
    ...answer.messages,
    ...[...notes].map((flag) => `${flag}: ${told.notes[flag] ?? flag}.`),
  ]);
  ranking.show(answer, items);
}
