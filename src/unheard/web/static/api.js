/** The server, asked. */

import { askToken, tokenHeader } from "./token.js";
import { inWords } from "./wording.js";

const ROOT = new URL("../api/v1/", import.meta.url);

/** What the server said is wrong, and where. */
export class Problem extends Error {
  /**
   * @param {string} detail
   * @param {string} [place]  Such as counts[1].
   * @param {number} [status]  Of the answer, if there was one.
   */
  constructor(detail, place = "", status = 0) {
    super(detail);
    this.place = place;
    this.status = status;
  }
}

const GONE =
  "The server does not answer. Is “unheard serve” still running? The next change asks again.";

/**
 * Send a request; ask for the token if the server wants one.
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
  const shown = tokenHeader();
  const headers = { ...shown };
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
    const fresh = tokenHeader().Authorization !== shown.Authorization || (await askToken());
    if (fresh) return send(path, { body, type, accept, query, signal });
    throw new Problem("The server asks for a token. The next change asks for it again.");
  }
  if (!response.ok) throw await problem(response);
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

let told = null;

/** What the server says about itself: presets, words of the notes, examples, limits. */
export function about() {
  told ??= send("about").then((response) => response.json());
  told.catch(() => (told = null)); // asked again next time
  return told;
}

/** Whether an error only says that an answer is no longer wanted. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

async function problem(response) {
  try {
    const { detail, place } = await response.json();
    if (typeof detail === "string") return new Problem(inWords(detail), place, response.status);
  } catch {
    // Not a problem document: its status must do.
  }
  const { status, statusText } = response;
  return new Problem(`The server failed (${status} ${statusText}).`, "", status);
}
