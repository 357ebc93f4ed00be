/* Light, dark, or the system's theme. A plain script in the head, so that the page never flashes in
   the wrong colours; the event "themechange" announces a change. */
(() => {
  const KEY = "unheard-theme";
  const root = document.documentElement;

  function readChoice() {
    try {
      return localStorage.getItem(KEY) ?? "auto";
    } catch {
      return "auto"; // storage is switched off
    }
  }

  function apply(choice) {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
    document.dispatchEvent(new Event("themechange"));
  }

  function choose(choice) {
    apply(choice);
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // The choice then lasts as long as the page.
    }
  }

  apply(readChoice());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.dispatchEvent(new Event("themechange"));
  });
  document.addEventListener("DOMContentLoaded", () => {
    for (const radio of document.querySelectorAll("#theme input")) {
      radio.checked = radio.value === readChoice();
      radio.addEventListener("change", () => choose(radio.value));
    }
  });
})();
