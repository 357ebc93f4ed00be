/** What the server says is wrong, in the words that stand on the page. */

/** What to do with rows that cannot be used as they are: the label, and the choices. */
export const NULLS = {
  label: "Empty ratings",
  choices: [
    ["refuse", "stop and tell me"],
    ["drop", "leave them out"],
    ["nonresponse", "people who were asked and said nothing"],
  ],
};
export const OFF_SCALE = {
  label: "Ratings off the scale",
  choices: [
    ["refuse", "stop and tell me"],
    ["drop", "leave them out"],
  ],
};

const PLACES = {
  above: "Is the mean above",
  item: "Item",
  k: "Who is in the top",
  n: "People in all",
  rating: "Rating",
  scale: "Scale",
};
const OPTIONS = { nulls: NULLS, off_scale: OFF_SCALE };

/**
 * The server speaks as the library does, of arguments and their values.
 * @param {string} detail
 * @returns {string}
 */
export function inWords(detail) {
  return detail
    .replace(/^(\w+)(?: of table\.\w+)?(?=: )/, (place) => labelOf(place))
    .replace(/^counts\[(\d+)\]/, (_, at) => `Count ${Number(at) + 1}`)
    .replace(/^counts\[(\d+), (\d+)\]/, (_, row, at) => `Item ${Number(row) + 1}, count ${Number(at) + 1}`)
    .replace(/^table\.\w+/, "The table")
    .replace(/\btable\.(csv|tsv|parquet|jsonl|json)\b/g, "the table")
    .replace(/\b(nulls|off_scale)='(\w+)'/g, (said, option, value) => {
      const { label, choices } = OPTIONS[option];
      const choice = choices.find(([one]) => one === value);
      return choice ? `“${label}: ${choice[1]}”` : said;
    })
    .replace(/\bscale='([^']+)'/g, "$1")
    .replace(/=None\b/g, " empty")
    .replace("Count everybody in n,", "Count everybody,")
    .replace("; correct n,", "; correct the number,");
}

function labelOf(place) {
  const [name] = place.split(" ");
  return PLACES[name] ?? (name === place ? place : name[0].toUpperCase() + name.slice(1));
}
