// Waits that an abort signal can end.

/**
 * heed settles like the promise, or rejects when one of the signals aborts before.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal[]} signals
 * @returns {Promise<T>}
 */
export function heed(promise, signals) {
  return new Promise((resolve, reject) => {
    const abort = (/** @type {{target: any}} */ { target }) => end(() => reject(target.reason));
    /** @param {() => void} settle */
    const end = (settle) => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
      settle();
    };
    for (const signal of signals) signal.addEventListener('abort', abort);
    promise.then((value) => end(() => resolve(value)), (error) => end(() => reject(error)));
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) abort({ target: aborted });
  });
}

/**
 * pause waits, and rejects when one of the signals aborts before.
 * @param {number} ms
 * @param {AbortSignal[]} signals
 * @returns {Promise<void>}
 */
export function pause(ms, signals) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const over = /** @type {Promise<void>} */ (new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  }));
  return heed(over, signals).finally(() => clearTimeout(timer));
}

/**
 * limits returns the signals that can end a call before the client ends.
 * @param {import('./types.js').CallOptions} [options]
 */
export function limits({ signal, patience = Infinity } = {}) {
  const late = patience < 2 ** 31 ? AbortSignal.timeout(Math.max(0, patience)) : undefined; // setTimeout allows no longer time
  return { late, signals: [signal, late].filter((one) => one !== undefined) };
}
