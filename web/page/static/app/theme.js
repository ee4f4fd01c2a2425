// Applies light or dark colours: those of the system, unless the user has chosen.
import { state, change } from './state.js';
import { keep, kept } from './storage.js';

/** @typedef {'auto'|'light'|'dark'} Theme */

const name = 'hongbao-theme';
export const themes = /** @type {Theme[]} */ (['auto', 'light', 'dark']);

/** Restores the user's earlier choice. */
export function chooseTheme() {
  const was = /** @type {Theme} */ (kept(name));
  show(themes.includes(was) ? was : 'auto');
}

/** @param {Theme} theme */
export function setTheme(theme) {
  keep(name, theme === 'auto' ? null : theme);
  show(theme);
}

/** @param {Theme} theme */
function show(theme) {
  change(() => { state.theme = theme; });
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  colourFrame(theme);
}

/** The browser's own frame follows: index.html has a colour for each, bound to the system's setting. @param {Theme} theme */
function colourFrame(theme) {
  for (const meta of document.querySelectorAll('meta[name="theme-color"]')) {
    const of = meta.getAttribute('content') === '#141312' ? 'dark' : 'light';
    meta.setAttribute('media', theme === 'auto' ? `(prefers-color-scheme: ${of})` : theme === of ? 'all' : 'not all');
  }
}
