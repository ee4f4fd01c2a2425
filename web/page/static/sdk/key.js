// Creates random keys for commands that create something, so that a repeated command creates it once.

/**
 * newKey draws a key. Insecure contexts have no randomUUID, but getRandomValues.
 * @returns {string} 128 random bits in hex
 */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
