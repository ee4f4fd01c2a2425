// The texts of the page, in the user's language. One file per language; texts are found by path: t('rooms.none').
import { state, change, toast } from './state.js';
import { keep, kept } from './storage.js';

const files = { en: () => import('./words/en.js'), zh: () => import('./words/zh.js') };
const names = { en: 'en', zh: 'zh-CN' };
export const languages = Object.keys(files);

/** @type {any} */ let spoken = {};

/** Locale for numbers and dates. */
export function locale() { return names[state.lang]; }

/** @param {string} place @param {Record<string, any>} [values] that the sentence names */
export function t(place, values = {}) {
  const words = place.split('.').reduce(own, spoken);
  if (typeof words === 'function') return words(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, apart(value)])));
  return words ?? place;
}

/** A kind or word from outside must not find a property that every object has. */
function own(of, name) { return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined; }

const turning = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** Isolates names that are written from right to left, or pretend to be, within a sentence. @param {any} value @returns {any} */
function apart(value) {
  if (Array.isArray(value)) return value.map(apart);
  return typeof value === 'string' && turning.test(value) ? `\u2068${value.replace(/[\u2066-\u2069]/g, '')}\u2069` : value;
}

/** The text of an error for people. @param {any} error */
export function inWords(error) {
  const word = error?.word ?? (error?.name === 'ClosedError' ? 'closed' : 'unknown');
  if (word === 'denied' && error.reason) return apart(error.reason); // the host's own words
  const { errors } = spoken;
  const { field, cause } = error?.fields ?? {};
  return own(errors, `${word}_${field}_${cause}`) ?? own(errors, `${word}_${field}`) ?? own(errors, word) ?? errors.unknown;
}

/** The browser's language, unless the user has chosen. */
export async function chooseLanguage() {
  const chosen = kept('hongbao-lang');
  const wanted = navigator.languages.find((l) => /^(zh|en)\b/i.test(l)) ?? 'en';
  await speak(chosen && languages.includes(chosen) ? chosen : wanted.slice(0, 2).toLowerCase());
}

/** @param {string} lang */
export async function setLanguage(lang) {
  try {
    await speak(lang);
    keep('hongbao-lang', lang);
  } catch { // its texts could not be loaded
    toast(inWords({ word: 'unavailable' }));
  }
}

/** Loads the texts of a language, and then switches to it. @param {string} lang */
async function speak(lang) {
  const { default: words } = await files[lang]();
  change(() => {
    spoken = words;
    state.lang = lang;
  });
  document.documentElement.lang = names[lang];
}
