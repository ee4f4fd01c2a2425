// QR codes (ISO/IEC 18004): bytes, versions 1 to 10, error correction level M.

/** By version: bytes of error correction of a block, then blocks of each length: how many, data bytes of each. */
const versions = [
  [10, [1, 16]], [16, [1, 28]], [26, [1, 44]], [18, [2, 32]], [24, [2, 43]], [16, [4, 27]], [18, [4, 31]],
  [22, [2, 38], [2, 39]], [22, [3, 36], [2, 37]], [26, [4, 43], [1, 44]],
];

/** By version: the rows and columns of the centres of alignment patterns. */
const alignments = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

/** @type {((row: number, column: number) => boolean)[]} */
const masks = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/**
 * The rows of modules of a QR code; 1 is dark. The quiet zone around it, four modules wide, is not included.
 * @param {string} text at most 213 bytes of UTF-8
 * @param {number} [mask] 0 to 7; left out: the one with the lowest penalty
 * @returns {Uint8Array[]}
 */
export function qrCode(text, mask) {
  const bytes = new TextEncoder().encode(text);
  const version = 1 + versions.findIndex((_, i) => header(i + 1) + 8 * bytes.length <= 8 * capacity(i + 1));
  if (!version) throw new RangeError(`${bytes.length} bytes are too many for a QR code`);
  const words = interleaved(dataWords(bytes, version), version);
  const drawn = mask === undefined ? masks.map((_, i) => draw(words, version, i)) : [draw(words, version, mask)];
  return drawn.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

/** Bits before the data: the mode and the length. @param {number} version */
function header(version) { return 4 + (version < 10 ? 8 : 16); }

/** @param {number} version */
function blocksOf(version) {
  const [correction, ...groups] = /** @type {[number, ...[number, number][]]} */ (versions[version - 1]);
  return { correction, lengths: groups.flatMap(([count, length]) => Array(count).fill(length)) };
}

/** Data bytes. @param {number} version */
function capacity(version) { return blocksOf(version).lengths.reduce((sum, n) => sum + n, 0); }

/** @param {Uint8Array} bytes @param {number} version */
function dataWords(bytes, version) {
  const words = new Uint8Array(capacity(version));
  let at = 0;
  const put = (/** @type {number} */ value, /** @type {number} */ bits) => {
    for (let i = bits - 1; i >= 0; i--, at++) words[at >> 3] |= ((value >> i) & 1) << (7 - (at & 7));
  };
  put(4, 4); // bytes
  put(bytes.length, header(version) - 4);
  for (const b of bytes) put(b, 8);
  put(0, Math.min(4, 8 * words.length - at)); // the end
  for (let i = Math.ceil(at / 8), odd = false; i < words.length; i++, odd = !odd) words[i] = odd ? 0x11 : 0xec;
  return words;
}

// Powers of 2 in the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1, and their logarithms.
const power = new Uint8Array(255);
const logarithm = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++, x = (x << 1) ^ (x & 0x80 ? 0x11d : 0)) {
  power[i] = x;
  logarithm[x] = i;
}

/** @param {number} a @param {number} b */
function times(a, b) { return a && b ? power[(logarithm[a] + logarithm[b]) % 255] : 0; }

/** The Reed-Solomon words of a block. @param {Uint8Array} block @param {number} count */
function correctionOf(block, count) {
  let divisor = [1]; // the product of all (x - 2^i), the highest power first
  for (let i = 0; i < count; i++) divisor = [...divisor, 0].map((word, k) => word ^ (k ? times(divisor[k - 1], power[i]) : 0));
  const rest = [...block, ...Array(count).fill(0)];
  for (let i = 0; i < block.length; i++) {
    const lead = rest[i];
    divisor.forEach((word, k) => { rest[i + k] ^= times(word, lead); });
  }
  return rest.slice(block.length);
}

/** The words of all blocks in the order in which they are drawn. @param {Uint8Array} words @param {number} version */
function interleaved(words, version) {
  const { correction, lengths } = blocksOf(version);
  let at = 0;
  const blocks = lengths.map((length) => words.subarray(at, at += length));
  const checks = blocks.map((block) => correctionOf(block, correction));
  const all = [];
  for (let i = 0; i < Math.max(...lengths); i++) for (const block of blocks) if (i < block.length) all.push(block[i]);
  for (let i = 0; i < correction; i++) for (const check of checks) all.push(check[i]);
  return all;
}

/** @param {number[]} words @param {number} version @param {number} mask */
function draw(words, version, mask) {
  const size = 17 + 4 * version;
  const rows = Array.from({ length: size }, () => new Uint8Array(size));
  const taken = Array.from({ length: size }, () => new Uint8Array(size));
  const set = (/** @type {number} */ r, /** @type {number} */ c, /** @type {any} */ dark) => {
    if (r < 0 || c < 0 || r >= size || c >= size) return;
    rows[r][c] = dark ? 1 : 0;
    taken[r][c] = 1;
  };
  for (let i = 0; i < size; i++) for (const [r, c] of [[6, i], [i, 6]]) set(r, c, i % 2 === 0); // timing
  for (const [top, left] of [[0, 0], [0, size - 7], [size - 7, 0]]) square(set, top + 3, left + 3, 4, [0, 1, 3]);
  const centres = alignments[version - 1];
  const last = centres[centres.length - 1];
  for (const r of centres) {
    for (const c of centres) if (!(r === 6 && (c === 6 || c === last)) && !(r === last && c === 6)) square(set, r, c, 2, [0, 2]);
  }
  drawFormat(set, size, mask);
  if (version >= 7) drawVersion(set, size, version);
  fill(rows, taken, words, masks[mask]);
  return rows;
}

/**
 * Rings around a centre. dark holds the distances that are dark.
 * @param {(r: number, c: number, dark: any) => void} set
 * @param {number} row @param {number} column @param {number} radius @param {number[]} dark
 */
function square(set, row, column, radius, dark) {
  for (let r = -radius; r <= radius; r++) {
    for (let c = -radius; c <= radius; c++) set(row + r, column + c, dark.includes(Math.max(Math.abs(r), Math.abs(c))));
  }
}

/** The remainder of a division of polynomials over bits. @param {number} value @param {number} by @param {number} bits of the remainder */
function remainder(value, by, bits) {
  let rest = value << bits;
  for (let i = 31 - Math.clz32(rest); i >= bits; i = 31 - Math.clz32(rest)) rest ^= by << (i - bits);
  return rest;
}

/** @param {(r: number, c: number, dark: any) => void} set @param {number} size @param {number} mask */
function drawFormat(set, size, mask) { // level M is 00
  const bits = ((mask << 10) | remainder(mask, 0x537, 10)) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const dark = (bits >> i) & 1;
    if (i < 8) set(i < 6 ? i : i + 1, 8, dark);
    else set(8, i === 8 ? 7 : 14 - i, dark);
    if (i < 8) set(8, size - 1 - i, dark);
    else set(size - 15 + i, 8, dark);
  }
  set(size - 8, 8, true);
}

/** @param {(r: number, c: number, dark: any) => void} set @param {number} size @param {number} version */
function drawVersion(set, size, version) {
  const bits = (version << 12) | remainder(version, 0x1f25, 12);
  for (let i = 0; i < 18; i++) {
    const [far, near] = [size - 11 + (i % 3), Math.floor(i / 3)];
    set(far, near, (bits >> i) & 1);
    set(near, far, (bits >> i) & 1);
  }
}

/**
 * Draws the words in columns of two modules, from the right, up and down in turn.
 * @param {Uint8Array[]} rows @param {Uint8Array[]} taken @param {number[]} words @param {(r: number, c: number) => boolean} inverts
 */
function fill(rows, taken, words, inverts) {
  const size = rows.length;
  let at = 0;
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) { // column 6 is the timing
    const up = ((right > 6 ? right : right + 1) & 2) === ((size - 1) & 2);
    for (let i = 0; i < size; i++) {
      for (const c of [right, right - 1]) {
        const r = up ? size - 1 - i : i;
        if (taken[r][c]) continue;
        const bit = at < 8 * words.length ? (words[at >> 3] >> (7 - (at & 7))) & 1 : 0;
        at++;
        rows[r][c] = bit ^ (inverts(r, c) ? 1 : 0);
      }
    }
  }
}

/** How hard a code is to read. @param {Uint8Array[]} rows */
function penalty(rows) {
  const lines = [...rows.map((row) => row.join('')), ...rows.map((_, c) => rows.map((row) => row[c]).join(''))];
  let sum = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    sum += 40 * (line.match(/(?=10111010000|00001011101)/g) ?? []).length;
  }
  for (let r = 1; r < rows.length; r++) {
    for (let c = 1; c < rows.length; c++) {
      const v = rows[r][c];
      if (v === rows[r - 1][c] && v === rows[r][c - 1] && v === rows[r - 1][c - 1]) sum += 3;
    }
  }
  const dark = rows.reduce((n, row) => n + row.reduce((a, b) => a + b, 0), 0) / rows.length ** 2;
  return sum + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
