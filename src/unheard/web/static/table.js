/** The view about a table of many items. */

import { answerArea, onPress } from "./answer.js";
import { about, ask, isAbort, send } from "./api.js";
import { assumption, sayAssumption } from "./assumption.js";
import { chartOfTable, theme } from "./charts.js";
import { byId, el, fillNotes, fillParagraphs } from "./dom.js";
import { save } from "./downloads.js";
import { exampleFile } from "./example.js";
import { acceptDrops, fileSource, pastedSource } from "./files.js";
import { layColumns } from "./layout.js";
import { latest, rested } from "./latest.js";
import { Mistake, plural, readOptional, scaleText, wholeText } from "./numbers.js";
import { nameOf, rankingTable } from "./ranking.js";
import { EXAMPLE, state } from "./state.js";

const REST = 250;
const CHARTED = 30;

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
  let source = null;
  let layout = null; // tells what the columns mean
  let shown = null;

  /** Begin with a table: look into it, then rank its items. */
  async function take(make) {
    goTo("table");
    try {
      const fresh = make();
      await checkSize(fresh);
      [source, layout] = [fresh, null];
      byId("table-answer").hidden = true;
      answers.ask();
    } catch (error) {
      area.bad(error);
    }
  }

  const answers = latest(async (_, signal) => {
    const { name, type, body } = source;
    const settings = { type, body, signal };
    try {
      working.start(`Reading ${name}`);
      if (!layout) {
        const found = await (await send("inspect", settings)).json();
        layout = layColumns(byId("table-layout"), source, found, changed);
        addTop();
      }
      const query = question();
      const told = await about();
      working.start("Ranking the items");
      const answer = await (await send("rank", { ...settings, query })).json();
      shown = { answer, query, items: itemsOf(answer, query) };
      showAnswer(shown, told, ranking);
      area.good();
      working.start("Drawing");
      const box = byId("table-chart");
      await chartOfTable(box, "rank/chart", { ...settings, query: { ...query, top: CHARTED } })();
    } catch (error) {
      if (isAbort(error) && working.cancelled()) area.bad(new Mistake("Cancelled. The next change asks again."));
      else area.bad(error);
    } finally {
      working.end();
    }
  });

  function question() {
    const k = readOptional(mine.k, "Say how many places, such as 3, or leave it empty.");
    return { ...layout(), ...assumption(), k };
  }

  /** The question that no column answers: how many are at the top. */
  function addTop() {
    const field = el("input", { type: "text", id: "table-k", inputmode: "numeric", autocomplete: "off", size: "4" });
    field.value = mine.k;
    field.addEventListener("input", () => {
      mine.k = field.value;
      changed();
    });
    const label = el("label", { for: "table-k" }, "Who is in the top …? ", el("span", { class: "hint" }, "optional"));
    byId("table-layout").querySelector(".fields").append(el("div", { class: "field" }, label, field));
  }

  /** Open an item as one rating, with its counts. */
  async function openItem(row) {
    const { items, answer } = shown;
    const { k, ...query } = shown.query; // counting knows no top
    try {
      working.start("Counting");
      const rows = await (await send("counts", { ...source, query })).json();
      const found = rows.find((one) => items.every((name) => one[name] === row[name]));
      const names = Object.keys(found).filter((name) => name.startsWith("count_") && !items.includes(name));
      Object.assign(state.one, {
        scale: scaleText(answer.scale),
        counts: answer.scale.map((_, i) => String(found[names[i]])),
        n: row.n === null ? "" : String(row.n),
        from: { item: nameOf(row, items), table: source.name },
      });
      goTo("one");
    } catch (error) {
      area.bad(error);
    } finally {
      working.end();
    }
  }

  function download(path, settings, name) {
    return async () => {
      const query = { ...shown.query, ...settings.query };
      const response = await send(path, { ...source, ...settings, query });
      save(await response.blob(), name);
    };
  }

  onPress(byId("table-csv"), alert, download("rank", { accept: "text/csv" }, "ranking.csv"));
  onPress(byId("table-png"), alert, () =>
    download("rank/chart", { query: { format: "png", theme: theme(), top: CHARTED } }, "ranking.png")(),
  );
  onPress(byId("table-report"), alert, () =>
    download("report", { query: { name: source.name } }, "report.html")(),
  );

  byId("table-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) take(() => fileSource(file));
    event.target.value = ""; // so that the same file can be chosen again
  });
  byId("table-example").addEventListener("click", () => take(() => fileSource(exampleFile())));
  byId("table-use").addEventListener("click", () => take(() => pastedSource(byId("table-paste").value)));
  acceptDrops(byId("drop"), (file) => take(() => fileSource(file)));

  return {
    show() {
      const field = byId("table-k");
      if (field) field.value = mine.k;
    },
    ask: rested(() => (source ? answers.ask() : sayWords()), REST),
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
  const { limits } = await about();
  if (body.size > limits.bytes) {
    throw new Mistake(`${name} has ${sizeText(body.size)}. This server takes up to ${sizeText(limits.bytes)}.`);
  }
}

function sizeText(bytes) {
  return bytes < 2 ** 20 ? plural(bytes, "byte") : `${wholeText(Math.round(bytes / 2 ** 20))} MiB`;
}

/** State beside the file chooser how much the server takes. */
export function sayLimits({ limits }) {
  byId("table-limits").textContent =
    `CSV, TSV, Parquet or JSON lines, up to ${sizeText(limits.bytes)}, ${wholeText(limits.rows)} rows and ` +
    `${wholeText(limits.items)} items.`;
}

/** The columns that name items, as the answer has them: those before the numbers. */
function itemsOf({ rows }, query) {
  const names = Object.keys(rows[0] ?? {});
  return names.includes("n_ratings") ? names.slice(0, names.indexOf("n_ratings")) : [query.item];
}

function showAnswer({ answer, items }, told, ranking) {
  sayAssumption(answer.assumption.words);
  const [first, ...rest] = answer.words;
  byId("table-headline").textContent = first;
  fillParagraphs(byId("table-words"), rest);
  const flags = new Set(answer.rows.flatMap((row) => row.flags));
  fillNotes(byId("table-notes"), [
    ...answer.notes,
    ...[...flags].map((flag) => `${flag}: ${told.flags[flag] ?? flag}.`),
  ]);
  ranking.show(answer, items);
}

/** The line that tells what is being done, for how long, and lets it be cancelled. */
function workingLine(cancel) {
  const line = byId("table-working");
  const words = byId("table-doing");
  let since = 0;
  let timer = null;
  let stopped = false;
  byId("table-cancel").addEventListener("click", () => {
    stopped = true;
    cancel();
  });
  return {
    start(what) {
      if (!timer) since = performance.now();
      clearInterval(timer);
      stopped = false;
      words.textContent = `${what} …`;
      line.classList.remove("resting");
      timer = setInterval(() => {
        words.textContent = `${what} … ${Math.round((performance.now() - since) / 1000)} s`;
      }, 1000);
      line.hidden = false;
    },
    end() {
      clearInterval(timer);
      timer = null;
      line.classList.add("resting"); // its place stays, so that nothing jumps
    },
    cancelled: () => stopped,
  };
}
