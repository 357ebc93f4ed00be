/** The token of a server that requires one: from the address bar, or from a dialog. */

import { byId } from "./dom.js";

const KEY = "unheard-token";
let token = readStored();
let asking = null;

/** Take the token from the fragment of the address (#token=...), and the fragment away. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return;
  keep(given);
  history.replaceState(null, "", location.pathname + location.search);
}

/** @returns {Record<string, string>} */
export function tokenHeader() {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/**
 * Ask the reader for the token; requests that fail together share one dialog.
 * @returns {Promise<boolean>} whether one was given
 */
export function askToken() {
  asking ??= showDialog().finally(() => (asking = null));
  return asking;
}

function showDialog() {
  const box = byId("token-dialog");
  const field = byId("token");
  byId("token-problem").textContent = token ? "The server did not accept the token." : "";
  field.value = "";
  box.returnValue = "";
  box.showModal();
  return new Promise((resolve) => {
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      keep(field.value.trim());
      box.close("given");
    };
    byId("token-cancel").onclick = () => box.close();
    box.onclose = () => resolve(box.returnValue === "given");
  });
}

function keep(value) {
  token = value;
  try {
    sessionStorage.setItem(KEY, value);
  } catch {
    // Storage is switched off: the token lasts as long as the page.
  }
}

function readStored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}
