import { state, change } from './state.js';

const kept = 'hongbao-theme';

/** The system's, unless one has chosen. */
export function chooseTheme() { show(localStorage.getItem(kept) ?? 'auto'); }

/** @param {'auto'|'light'|'dark'} theme */
export function setTheme(theme) {
  localStorage.setItem(kept, theme);
  show(theme);
}

function show(theme) {
  change(() => { state.theme = theme; });
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
