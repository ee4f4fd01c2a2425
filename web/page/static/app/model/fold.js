// Long texts are shown in part until the user wants all.

const mostLetters = 1000;
const mostLines = 14;
const shownLetters = 700;
const shownLines = 10;

/** The part of a text that is shown at first; the whole text if it is not long. @param {string} text */
export function folded(text) {
  const lines = text.split('\n', mostLines + 1).length;
  if (text.length <= mostLetters && lines <= mostLines) return text;
  const part = text.split('\n', shownLines).join('\n').slice(0, shownLetters);
  const space = part.search(/\s\S*$/); // a word or an address is not cut, unless it is very long
  const end = part.length === shownLetters && space > shownLetters / 2 ? space : part.length;
  return `${part.slice(0, end).trimEnd().replace(/[\ud800-\udbff]$/, '')}…`;
}
