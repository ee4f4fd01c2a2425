// Package fill makes a large database: rooms, members, texts, packets and the books of all that, as years of use would leave them. It writes
// rows by the fastest way that an engine has, not through a store. They are nevertheless what a store would have written: an
// audit of the result, with its hash chain, finds no difference.
//
// What is written depends only on the Size. Its rows are scattered as in use: a room's entries lie between those of others.
package fill
