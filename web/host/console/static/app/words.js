// The texts of the page. One file per language; texts are found by path: t('nav.users').
import { state } from './state.js';
import { en } from './words/en.js';
import { zh } from './words/zh.js';

export const languages = { en, zh };

/** The text at a place, with its values. A place that no language has is shown as it is. */
export function t(place, values = {}) {
  let words = languages[state.lang];
  for (const step of place.split('.')) words = words !== undefined && Object.hasOwn(words, step) ? words[step] : undefined;
  return typeof words === 'function' ? words(values) : words ?? place;
}

/** The text for a word of the server, or the word if there is none: servers may know more words. */
export function said(group, word) {
  const text = t(`${group}.${word}`);
  return text === `${group}.${word}` ? word : text;
}
