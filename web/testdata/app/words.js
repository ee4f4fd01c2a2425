// The words of all languages, laid flat for the test of them.

import en from '/app/words/en.js';
import zh from '/app/words/zh.js';

const languages = { en, zh };

/** What a sentence may be given: whatever it asks for is there. */
function values(count) {
  const given = { count, names: ['Ann', 'Bob'] };
  return new Proxy(given, { get: (of, name) => (name in of ? of[name] : `{${String(name)}}`) });
}

/** By language and place: what is said of one, and of many. */
export function flat() {
  return Object.fromEntries(Object.entries(languages).map(([lang, words]) => [lang, Object.fromEntries(leaves(words, ''))]));
}

function* leaves(words, before) {
  for (const [name, word] of Object.entries(words)) {
    if (typeof word === 'object') yield* leaves(word, `${before}${name}.`);
    else yield [before + name, typeof word === 'function' ? [1, 2].map((count) => String(word(values(count)))) : [String(word)]];
  }
}
