/**
 * sha256 returns the 32 bytes of the digest.
 * @param {Uint8Array} message
 */
export function sha256(message: Uint8Array): Uint8Array<ArrayBuffer>;
/**
 * hmac returns the function that authenticates messages with a key of at most 64 bytes.
 * @param {Uint8Array} key
 * @returns {(message: Uint8Array) => Uint8Array}
 */
export function hmac(key: Uint8Array): (message: Uint8Array) => Uint8Array;
