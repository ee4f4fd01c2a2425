// Package chat owns who is in which room and what was said there, in order.
//
// It must always hold:
//
//   - A room's entries are numbered 1, 2, 3, … without holes, in commit order. That one number is commit
//     order, history cursor, resume position and unread base at once.
//   - An entry never changes after it is committed; only a recalled text is emptied, and the edits of it. What became of
//     a text is kept beside it, and history shows it folded.
//   - Who may change or amend what is decided by Change.Rule and Amendment.Apply alone, of what the Store holds meanwhile.
//   - Nothing is told to anyone before it is committed: the Service calls its Publisher only after the
//     Store has returned.
//   - A client's key names one request for ever: the same key with the same content gives the first
//     result again, with other content ErrKeyReused.
//   - What the Service remembers of standings and users is exact for every change made through it, and for those
//     of other instances as soon as their word has come. While words may be missing nothing is remembered but that
//     a room was deleted, for none comes back.
//
// No goroutine runs while nothing happens: a count of members that is held back for a second is a timer.
//
// The package knows no driver, no router, no socket and no wire type. Bodies of entries are JSON documents
// made once by the package that owns the kind, stored and sent as they are.
package chat
