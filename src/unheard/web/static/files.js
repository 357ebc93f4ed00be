/** Tables that the reader supplies: a file, or pasted rows. Only their content is sent. */

import { Mistake } from "./numbers.js";

const TYPES = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  tab: "text/tab-separated-values",
  parquet: "application/vnd.apache.parquet",
  jsonl: "application/x-ndjson",
  ndjson: "application/x-ndjson",
  json: "application/json",
  txt: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xlsm: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xls: "application/vnd.ms-excel",
  xlsb: "application/vnd.ms-excel.sheet.binary.macroenabled.12",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  zip: "application/zip",
  gz: "application/gzip",
};

/**
 * @typedef {object} Source
 * @property {string} name
 * @property {string} type
 * @property {Blob} body
 */

/** @param {File} file @returns {Source} */
export function readFile(file) {
  const ending = file.name.split(".").at(-1).toLowerCase();
  if (!(ending in TYPES)) {
    const known = "CSV, TSV, Excel, OpenDocument (.ods), Parquet, JSON lines (.jsonl) or JSON";
    throw new Mistake(`“${file.name}” is not a supported file. Choose ${known}.`);
  }
  return { name: file.name, type: TYPES[ending], body: file };
}

/** @param {string} text @returns {Source} */
export function readPasted(text) {
  const rows = text.trim();
  if (!rows.includes("\n")) {
    throw new Mistake("Paste a header row and at least one row below it.");
  }
  return { name: "pasted rows", type: TYPES[detectFormat(rows)], body: new Blob([`${rows}\n`]) };
}

function detectFormat(rows) {
  if (rows.startsWith("[")) return "json";
  if (rows.startsWith("{")) return "jsonl";
  return rows.split("\n", 1)[0].includes("\t") ? "tsv" : "csv";
}

/**
 * Let files be dropped anywhere on the page.
 * @param {HTMLElement} veil  Shown while a file hovers above the page.
 * @param {(file: File) => void} dropped
 */
export function acceptDrops(veil, dropped) {
  const holdsFile = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    veil.hidden = true;
    if (event.dataTransfer.files.length) dropped(event.dataTransfer.files[0]);
  });
}
