/** Made-up data to try the page with: six hotels, a row per rating. */

/** Percentages of guests who hold each opinion, from 1 to 5 stars. */
const HOTELS = {
  Alder: [6, 10, 24, 38, 22],
  Birch: [10, 16, 34, 28, 12],
  Cedar: [24, 8, 8, 10, 50],
  Elm: [38, 28, 20, 10, 4],
  Hazel: [1, 2, 7, 28, 62],
  Willow: [8, 12, 26, 36, 18],
};
const GUESTS = { Alder: 640, Birch: 480, Cedar: 820, Elm: 350, Hazel: 560, Willow: 90 };
/** How likely guests are to respond, by stars. */
const RESPONDS = [0.6, 0.25, 0.2, 0.3, 0.7];

/** @returns {File} */
export function makeExampleFile() {
  const random = makeRandom(2025);
  const rows = ["hotel,guests,stars"];
  for (const [hotel, shares] of Object.entries(HOTELS)) {
    for (let guest = 0; guest < GUESTS[hotel]; guest += 1) {
      const rating = drawRating(shares, random());
      if (random() < RESPONDS[rating]) rows.push(`${hotel},${GUESTS[hotel]},${rating + 1}`);
    }
  }
  return new File([`${rows.join("\n")}\n`], "example-hotels.csv");
}

function drawRating(shares, point) {
  let left = point * 100;
  return shares.findIndex((share) => (left -= share) < 0);
}

/** Random numbers that are the same every time (mulberry32). */
function makeRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
