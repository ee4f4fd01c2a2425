// What the page says, in the language of the one who reads it. One file per language; words are found by place: t('rooms.none').
import { state, change } from './state.js';
import { keep, kept } from './storage.js';
import en from './words/en.js';
import zh from './words/zh.js';

export const languages = { en, zh };
const names = { en: 'en', zh: 'zh-CN' };

/** Locale for numbers and dates. */
export function locale() { return names[state.lang]; }

/** @param {string} place @param {Record<string, any>} [values] that the sentence names */
export function t(place, values = {}) {
  const words = place.split('.').reduce((at, step) => at?.[step], languages[state.lang]);
  if (typeof words === 'function') return words(values);
  return words ?? place;
}

/** What an error says to a person. @param {any} error */
export function inWords(error) {
  const word = error?.word ?? (error?.name === 'ClosedError' ? 'closed' : 'unknown');
  const byField = error?.fields?.field && languages[state.lang].errors[`${word}_${error.fields.field}`];
  return byField || languages[state.lang].errors[word] || languages[state.lang].errors.unknown;
}

/** The browser's language, unless one has chosen. */
export function chooseLanguage() {
  const chosen = kept('hongbao-lang');
  const wanted = navigator.languages.find((l) => /^(zh|en)\b/i.test(l)) ?? 'en';
  speak(chosen && chosen in languages ? chosen : wanted.slice(0, 2).toLowerCase());
}

/** @param {string} lang */
export function setLanguage(lang) {
  keep('hongbao-lang', lang);
  speak(lang);
}

/** @param {string} lang */
function speak(lang) {
  change(() => { state.lang = lang; });
  document.documentElement.lang = names[lang];
}
