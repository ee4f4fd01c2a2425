// Runs the tests of a module: each function that it exports.

import { soon } from './check.js';

/** run gives the name of each test, with what was wrong; '': nothing. */
export async function run(module) {
  const stray = [];
  const note = (event) => stray.push(String(event.reason?.stack ?? event.message));
  addEventListener('error', note);
  addEventListener('unhandledrejection', note);
  const results = [];
  for (const [name, test] of Object.entries(await import(module))) {
    stray.length = 0;
    let wrong = '';
    try {
      await soon(test(stray), name, 120_000);
    } catch (error) {
      wrong = String(error?.stack ?? error);
    }
    results.push({ name, wrong: [wrong, ...stray].filter(Boolean).join('\n') });
  }
  removeEventListener('error', note);
  removeEventListener('unhandledrejection', note);
  return results;
}
