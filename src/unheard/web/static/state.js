/**
 * What the reader has typed and chosen, as text, with a copy in the fragment of the address, so that
 * a view can be bookmarked. Tables and the names in them never go there.
 */

export const VIEWS = ["one", "compare", "table"];
const QUIET = ["any", "low", "high", "middle"];

/** Made-up counts to begin with. */
export const EXAMPLE = ["120", "30", "45", "200", "605"];

export const state = {
  view: "one",
  q: "0.3",
  quiet: "any",
  /** Used instead of both, unless it is empty. */
  floor: "",
  /** `from`: the item and the table that the counts come from. */
  one: { scale: "1:5", counts: EXAMPLE, n: "", above: "", from: null },
  /** Counts are null until the server has sent its example. */
  compare: { scale: "1:5", names: ["", ""], counts: null, n: ["", ""] },
  /** `shared`: whether participation is the same for all items. */
  table: { k: "", shared: true },
};

/** How the state of each view is written as entries of the fragment, and read from them. */
const ENTRIES = {
  one: {
    write: ({ scale, counts, n, above }) => ({ scale, counts: counts.join(), n, above }),
    read: ({ counts, scale, n = "", above = "" }) =>
      counts && scale && { scale, counts: counts.split(","), n, above, from: null },
  },
  compare: {
    write: ({ scale, names, counts, n }) =>
      counts && {
        scale,
        ...{ name_a: names[0], a: counts[0].join(), n_a: n[0] },
        ...{ name_b: names[1], b: counts[1].join(), n_b: n[1] },
      },
    read: ({ scale, a, b, name_a = "", name_b = "", n_a = "", n_b = "" }) =>
      scale &&
      a &&
      b && {
        scale,
        names: [name_a, name_b],
        counts: [a.split(","), b.split(",")],
        n: [n_a, n_b],
      },
  },
  table: {
    write: ({ k, shared }) => ({ k, shared: String(shared) }),
    read: ({ k = "", shared }) => ({ k, shared: shared !== "false" }),
  },
};

/** Read the fragment, such as `#one?q=0.3&scale=1:5&counts=120,30,…`; the rest of the state stays. */
export function readFragment() {
  const [view, query] = location.hash.slice(1).split("?", 2);
  if (VIEWS.includes(view)) state.view = view;
  if (!query) return;
  const given = Object.fromEntries(new URLSearchParams(query));
  if (given.q) state.q = given.q;
  if (QUIET.includes(given.quiet)) state.quiet = given.quiet;
  state.floor = given.floor ?? "";
  Object.assign(state[state.view], ENTRIES[state.view].read(given) || {});
}

/** Write the fragment of the current view. */
export function writeFragment() {
  if (!["", state.view].includes(location.hash.slice(1).split("?")[0])) return; // the reader goes back
  const written = ENTRIES[state.view].write(state[state.view]);
  const query = new URLSearchParams({ q: state.q, quiet: state.quiet });
  if (state.floor) query.set("floor", state.floor);
  for (const [name, value] of Object.entries(written ?? {})) if (value) query.set(name, value);
  const readable = String(query).replaceAll("%2C", ",").replaceAll("%3A", ":");
  history.replaceState(null, "", `#${state.view}?${readable}`);
}
