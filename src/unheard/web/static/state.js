/**
 * What the reader has typed and chosen, as text, and its copy in the fragment of the address, so
 * that a view can be bookmarked. Tables and the names in them are never put there.
 */

export const VIEWS = ["one", "compare", "table"];
const CROWDS = ["one", "separate"];
const QUIET = ["any", "low", "high", "middle"];

/** Made up, to begin with. */
export const EXAMPLE = ["120", "30", "45", "200", "605"];

export const state = {
  view: "one",
  q: "0.3",
  quiet: "any",
  /** Stated instead of both, if it is. */
  floor: "",
  /** `from`: the item and the table that the counts were taken from. */
  one: { scale: "1:5", counts: EXAMPLE, n: "", above: "", from: null },
  /** Counts are null until the server has told its example. */
  compare: { scale: "1:5", names: ["", ""], counts: null, n: ["", ""] },
  /** `crowd`: whether one crowd rates all items, or each has its own. */
  table: { k: "", crowd: "one" },
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
    write: ({ k, crowd }) => ({ k, crowd }),
    read: ({ k = "", crowd }) => ({ k, crowd: CROWDS.includes(crowd) ? crowd : "one" }),
  },
};

/** Read the fragment, `#one?q=0.3&scale=1:5&counts=120,30,…`; what it leaves out stays as it is. */
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

/** Write the fragment of the view that is shown. */
export function writeFragment() {
  const written = ENTRIES[state.view].write(state[state.view]);
  const query = new URLSearchParams({ q: state.q, quiet: state.quiet });
  if (state.floor) query.set("floor", state.floor);
  for (const [name, value] of Object.entries(written ?? {})) if (value) query.set(name, value);
  const readable = String(query).replaceAll("%2C", ",").replaceAll("%3A", ":");
  history.replaceState(null, "", `#${state.view}?${readable}`);
}
