/**
 * heed settles like the promise, or rejects when one of the signals aborts before.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal[]} signals
 * @returns {Promise<T>}
 */
export function heed<T>(promise: Promise<T>, signals: AbortSignal[]): Promise<T>;
/**
 * pause waits, and rejects when one of the signals aborts before.
 * @param {number} ms
 * @param {AbortSignal[]} signals
 * @returns {Promise<void>}
 */
export function pause(ms: number, signals: AbortSignal[]): Promise<void>;
/**
 * limits returns the signals that can end a call before the client ends.
 * @param {import('./types.js').CallOptions} [options]
 */
export function limits({ signal, patience }?: import("./types.js").CallOptions): {
    late: AbortSignal | undefined;
    signals: AbortSignal[];
};
