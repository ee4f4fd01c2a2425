// Loads the next page of a list into the state.
import { change } from '../state.js';

/**
 * Runs one load of a list at a time; an error is stored in the list.
 * @template T
 * @param {import('../model/pages.js').Pages<T>} pages @param {() => Promise<() => void>} ask returns the function that puts the answer into the state
 */
export async function load(pages, ask) {
  if (pages.loading) return;
  change(() => { pages.loading = true; pages.error = null; });
  try {
    const put = await ask();
    change(() => { put(); pages.loading = false; });
  } catch (error) {
    change(() => { pages.loading = false; pages.error = error; });
  }
}
