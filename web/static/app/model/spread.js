// How the shares of a lucky packet will spread: drawn many times over, as the server cuts them (PROTOCOL section 7), but in fractions
// of the mean share and by cheap chance. Nothing here decides about money.

const draws = 16_000; // shares drawn for a picture: a millisecond or two
const widest = 4; // means; beyond it hardly anything falls
const bins = 32;

/**
 * @typedef {object} Forecast
 * @property {number} best      what the luckiest gets, in means
 * @property {number[]} curve   how often a share falls where, from 0 to 4 means; the peak is 1
 */

/** @type {Map<string, Forecast>} */
const known = new Map();

/** @param {'calm'|'classic'|'wild'} spread @param {number} count at least 2 @returns {Forecast} */
export function forecast(spread, count) {
  const key = `${spread} ${count}`;
  let found = known.get(key);
  if (!found) {
    if (known.size > 60) known.clear();
    known.set(key, found = simulate(spread, count));
  }
  return found;
}

/** What the luckiest may get, about. @param {'calm'|'classic'|'wild'} spread @param {number} total @param {number} count */
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

/** Each with its neighbours: what chance has left uneven. @param {number[]} curve */
function smooth(curve) {
  return curve.map((n, i) => ((curve[i - 1] ?? n) + 2 * n + (curve[i + 1] ?? n)) / 4);
}

/** Each share is drawn around the mean of what is left. */
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

/** A line is cut at random points. */
function line(count, chance) {
  const pieces = Array.from({ length: count }, () => -Math.log(1 - chance()));
  const all = pieces.reduce((sum, piece) => sum + piece, 0);
  return pieces.map((piece) => (piece * count) / all);
}

/** The same chance each time, so that a picture does not tremble while one types. @param {number} seed */
function random(seed) {
  let a = seed + 0x9e3779b9;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let x = Math.imul(a ^ (a >>> 15), 1 | a);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}
