/** Requests to the server. */

import { askToken, tokenHeader } from "./token.js";
import { writeParts } from "./labels.js";

const ROOT = new URL("../api/v1/", import.meta.url);

/** What the server refused: its code, the argument at fault, its index, examples, and the status. */
export class Problem extends Error {
  constructor(text, { code = "", argument = "", index = [], examples = [], status = 0 } = {}) {
    super(text);
    Object.assign(this, { code, argument, index, examples, status });
  }
}

const GONE =
  "The server does not respond. Is “unheard serve” still running? Your next change tries again.";

/**
 * Send a request; ask for the token if the server requires one.
 * @param {string} path
 * @param {{body?: BodyInit, type?: string, accept?: string, query?: Record<string, any>,
 *   signal?: AbortSignal}} [settings]  Entries of the query that are "" or undefined are left out.
 * @returns {Promise<Response>}
 */
export async function send(path, { body, type, accept, query = {}, signal } = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) {
    if (value !== "" && value !== undefined) url.searchParams.set(name, String(value));
  }
  const used = tokenHeader();
  const headers = { ...used };
  if (type) headers["Content-Type"] = type;
  if (accept) headers.Accept = accept;
  let response;
  try {
    response = await fetch(url, { method: body === undefined ? "GET" : "POST", headers, body, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(GONE);
  }
  if (response.status === 401) {
    response.body?.cancel();
    // Another request may have been given the token in the meantime.
    const fresh = tokenHeader().Authorization !== used.Authorization || (await askToken());
    if (fresh) return send(path, { body, type, accept, query, signal });
    throw new Problem("The server requires a token. Your next change asks for it again.");
  }
  if (!response.ok) throw await readProblem(response);
  return response;
}

/** Send a question as JSON. */
export function post(path, question, settings = {}) {
  return send(path, { ...settings, body: JSON.stringify(question), type: "application/json" });
}

/** Ask a question as JSON and return the answer. */
export async function ask(path, question, settings = {}) {
  return (await post(path, question, settings)).json();
}

let facts = null;

/** What the server says about itself: options, presets, texts of notes, examples, limits. */
export function about() {
  facts ??= send("about").then((response) => response.json());
  facts.catch(() => (facts = null)); // asked again next time
  return facts;
}

/** Whether an error only says that an answer is no longer wanted. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

async function readProblem(response) {
  const { status, statusText } = response;
  try {
    const { detail, parts, code, argument, index, examples } = await response.json();
    const text = parts ? await writeParts(parts) : detail;
    return new Problem(text, { code, argument, index, examples, status });
  } catch {
    // Not a problem document.
    return new Problem(`The server failed (${status} ${statusText}).`, { status });
  }
}
