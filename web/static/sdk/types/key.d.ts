/**
 * newKey draws a key. Insecure contexts have no randomUUID, but getRandomValues.
 * @returns {string} 128 random bits in hex
 */
export function newKey(): string;
