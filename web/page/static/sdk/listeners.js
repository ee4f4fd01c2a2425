// The listeners of a client. An error that a listener throws does not affect the others: it is reported as uncaught.

/** @typedef {import('./types.js').Events} Events */

export class Listeners {
  /** @type {Map<string, Set<(event: any) => void>>} */
  #by = new Map();

  /**
   * on adds a listener, and returns the function that removes it.
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(event: Events[Name]) => void} listener
   */
  on(name, listener) {
    const entry = (/** @type {Events[Name]} */ event) => listener(event); // the same function may be added twice
    const all = this.#by.get(name) ?? new Set();
    this.#by.set(name, all.add(entry));
    return () => void all.delete(entry);
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Events[Name]} event
   */
  tell(name, event) {
    for (const listener of [...(this.#by.get(name) ?? [])]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
