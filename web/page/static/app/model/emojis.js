// All emojis with their words in one language, from a file that is read when a user first opens the picker.

/**
 * @typedef {{emoji: string, words: string}} Emoji
 * @typedef {{name: string, emojis: Emoji[]}} Group
 */

const most = 64; // results of a search

/** @type {Map<string, Promise<Group[]>>} */
const files = new Map();

/** @param {string} lang @returns {Promise<Group[]>} */
export function emojisIn(lang) {
  const file = files.get(lang) ?? load(lang);
  files.set(lang, file);
  file.catch(() => files.delete(lang)); // the next picker tries again
  return file;
}

/** @param {string} lang */
async function load(lang) {
  const response = await fetch(`emoji/${lang}.txt`);
  if (!response.ok) throw new TypeError(response.statusText);
  return groupsOf(await response.text());
}

/** @param {string} text lines of an emoji and its words, below lines that name a group @returns {Group[]} */
export function groupsOf(text) {
  /** @type {Group[]} */
  const groups = [];
  for (const line of text.split('\n')) {
    const cut = line.indexOf(' ');
    if (line.startsWith('# ')) groups.push({ name: line.slice(2), emojis: [] });
    else if (cut > 0) groups.at(-1)?.emojis.push({ emoji: line.slice(0, cut), words: line.slice(cut + 1) });
  }
  return groups;
}

/**
 * The emojis of which some words begin with each word of the query; those whose name does come first. Words of Chinese are not separated, so a part of
 * them is enough.
 * @param {Group[]} groups @param {string} query
 */
export function emojisFor(groups, query) {
  const parts = query.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (!parts.length) return [];
  const holds = (/** @type {string} */ text) => parts.every((part) => (/^[\x20-\x7e]*$/.test(part) ? ` ${text}`.includes(` ${part}`) : text.includes(part)));
  const named = [];
  const others = [];
  for (const { emojis } of groups) {
    for (const e of emojis) {
      const words = e.words.toLocaleLowerCase();
      if (e.emoji === parts[0] || holds(words.split(', ')[0])) named.push(e.emoji);
      else if (holds(words)) others.push(e.emoji);
    }
  }
  return [...named, ...others].slice(0, most);
}
