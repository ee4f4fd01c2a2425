// Reading lists page by page into the state.
import { change } from '../state.js';

/**
 * Does one load of a list at a time; what goes wrong stands in the list.
 * @template T
 * @param {import('../model/pages.js').Pages<T>} pages @param {() => Promise<() => void>} ask gives what puts the answer into the state
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
