// Loads the next page of a list into the state.
import { change } from '../state.js';

/** The load of a list that is running. @type {WeakMap<import('../model/pages.js').Pages<any>, Promise<void>>} */
const running = new WeakMap();

/**
 * Runs one load of a list at a time; an error is stored in the list. A second caller waits for the load that is running.
 * @template T
 * @param {import('../model/pages.js').Pages<T>} pages @param {() => Promise<() => void>} ask returns the function that puts the answer into the state
 * @returns {Promise<void>}
 */
export async function load(pages, ask) {
  if (!pages.loading) running.set(pages, run(pages, ask));
  await running.get(pages);
}

async function run(pages, ask) {
  change(() => { pages.loading = true; pages.error = null; });
  try {
    const put = await ask();
    change(() => { put(); pages.loading = false; });
  } catch (error) {
    change(() => { pages.loading = false; pages.error = error; });
  }
}
