// Keys: the names of things that are to be made once.

/**
 * newKey draws a key. randomUUID is not there in insecure contexts, getRandomValues is.
 * @returns {string} 128 random bits in hex
 */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
