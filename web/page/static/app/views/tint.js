// Tints distinguish users and rooms: the same id always has the same tint.

const tints = 6; // in tokens.css

/** @param {string} id */
export function tint(id) {
  let sum = 0;
  for (const c of id) sum = (sum * 31 + c.charCodeAt(0)) >>> 0;
  return sum % tints;
}
