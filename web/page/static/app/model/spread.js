// A forecast of the shares of a lucky packet: simulated as the server draws them (web/docs/protocol/proof.md), but in fractions
// of the mean share and with cheap random numbers. It does not decide about money.

const draws = 16_000; // simulated shares; they take one or two milliseconds
const widest = 4; // in mean shares; larger ones are rare
const bins = 32;

/**
 * @typedef {object} Forecast
 * @property {number} best      the largest share, in means
 * @property {number[]} curve   how often shares fall where, from 0 to 4 means; the peak is 1
 */

/** @type {Map<string, Forecast>} */
const forecasts = new Map();

/** @param {'calm'|'classic'|'wild'} spread @param {number} count at least 2 @returns {Forecast} */
export function forecast(spread, count) {
  const key = `${spread} ${count}`;
  let found = forecasts.get(key);
  if (!found) {
    if (forecasts.size > 60) forecasts.clear();
    forecasts.set(key, found = simulate(spread, count));
  }
  return found;
}

/** The largest likely share, roughly. @param {'calm'|'classic'|'wild'} spread @param {number} total @param {number} count */
export function luckiest(spread, total, count) {
  const mean = total / count;
  const amount = Math.min(total - count + 1, Math.max(Math.ceil(mean), mean * forecast(spread, count).best));
  const place = 10 ** Math.max(0, Math.floor(Math.log10(amount)) - 1);
  return Math.round(amount / place) * place;
}

function simulate(spread, count) {
  const chance = random(count);
  const rounds = Math.max(3, Math.ceil(draws / count));
  const bests = [];
  const curve = new Array(bins).fill(0);
  for (let i = 0; i < rounds; i++) {
    let best = 0;
    for (const share of spread === 'wild' ? line(count, chance) : turns(count, chance, spread === 'calm')) {
      best = Math.max(best, share);
      if (share < widest) curve[Math.floor((share * bins) / widest)]++;
    }
    bests.push(best);
  }
  bests.sort((a, b) => a - b);
  const drawn = smooth(smooth(curve));
  const peak = Math.max(...drawn);
  return { best: bests[bests.length >> 1], curve: drawn.map((n) => n / peak) };
}

/** Smooths the curve: each value is averaged with its neighbours. @param {number[]} curve */
function smooth(curve) {
  return curve.map((n, i) => ((curve[i - 1] ?? n) + 2 * n + (curve[i + 1] ?? n)) / 4);
}

/** Each share is drawn around the mean of the rest. */
function turns(count, chance, calm) {
  const shares = [];
  let left = count;
  for (let k = count; k >= 2; k--) {
    const mean = left / k;
    const share = calm ? mean * (0.5 + chance()) : 2 * mean * chance();
    shares.push(share);
    left -= share;
  }
  shares.push(left);
  return shares;
}

/** The total is cut at random points. */
function line(count, chance) {
  const pieces = Array.from({ length: count }, () => -Math.log(1 - chance()));
  const all = pieces.reduce((sum, piece) => sum + piece, 0);
  return pieces.map((piece) => (piece * count) / all);
}

/** The same random numbers each time, so that the picture does not change while the user types. @param {number} seed */
function random(seed) {
  let a = seed + 0x9e3779b9;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let x = Math.imul(a ^ (a >>> 15), 1 | a);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}
