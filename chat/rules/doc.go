// Package rules decides whether a text keeps to rules: words and patterns, links, and how often and since when its author may write. It
// computes, and stores nothing. It imports no other package of the module.
//
// It must always hold:
//
//   - The time that Check takes grows with the length of the text alone, not with the number of words: patterns are RE2, and all words are
//     looked for in one pass.
//   - A word is found in whatever case, width or style it is written, with characters between that show nothing, and with letters of other
//     scripts that look the same.
package rules
