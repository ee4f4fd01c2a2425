// SHA-256 and HMAC with it (FIPS 180-4, RFC 2104). crypto.subtle has both, but not in insecure contexts, and it needs
// 5,000 promises for one packet, which is too slow. No secret is hashed here. The tests compare it with crypto.subtle.

const rounds = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
const start = Int32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
const blockBytes = 64;
const w = new Int32Array(64); // the message schedule of the present block

/**
 * sha256 returns the 32 bytes of the digest.
 * @param {Uint8Array} message
 */
export function sha256(message) {
  return finish(start, message, 0);
}

/**
 * hmac returns the function that authenticates messages with a key of at most 64 bytes.
 * @param {Uint8Array} key
 * @returns {(message: Uint8Array) => Uint8Array}
 */
export function hmac(key) {
  const [inner, outer] = [0x36, 0x5c].map((pad) => {
    const block = new Uint8Array(blockBytes).fill(pad);
    key.forEach((byte, i) => {
      block[i] ^= byte;
    });
    const state = start.slice();
    compress(state, new DataView(block.buffer), 0);
    return state;
  });
  return (message) => finish(outer, finish(inner, message, blockBytes), blockBytes);
}

/**
 * finish digests the end of a message.
 * @param {Int32Array} from the state after the blocks before
 * @param {Uint8Array} rest
 * @param {number} before number of bytes before
 */
function finish(from, rest, before) {
  const padded = new Uint8Array((((rest.length + 8) >> 6) + 1) * blockBytes);
  padded.set(rest);
  padded[rest.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, (before + rest.length) * 8);
  const state = from.slice();
  for (let at = 0; at < padded.length; at += blockBytes) compress(state, view, at);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, i) => out.setInt32(4 * i, word));
  return digest;
}

/**
 * compress adds one block to the state.
 * @param {Int32Array} state
 * @param {DataView} view
 * @param {number} at
 */
function compress(state, view, at) {
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + rounds[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}
