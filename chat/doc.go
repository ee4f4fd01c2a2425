// Package chat owns rooms, their members, and the numbered entries of each room.
//
// Invariants:
//
//   - A room's entries are numbered 1, 2, 3, … without gaps, in commit order. That number, the seq, is also the cursor of
//     history, the position from which a client resumes, and the position up to which a member has read.
//   - An entry never changes after it is committed, with one exception: a recall empties a text and its edits. Edits, recalls
//     and reactions are entries of their own. Their result is kept beside the text (Fold), and history shows it.
//   - Change.Rule, Joining.Refusal, NewLink.Refusal, Draft.Refusal and Amendment.Apply decide what a user may change, join, create,
//     send or amend. So the rules are the same in every engine. The Store keeps the state that they judge locked until the
//     commit. They also decide what System may do, which is neither a user nor a member.
//   - Nothing is published before it is committed: the Service calls its Publisher only after the Store has returned.
//   - A client's key names one request for ever. The same key with the same content gives the first result again; with other
//     content it gives ErrKeyReused.
//   - Cached standings and users are exact for every change made through this Service. A change of another instance counts as
//     soon as its notice (Publisher.StandingChanged) has arrived. While notices may be lost, only the fact that a room was
//     deleted is cached, because a deleted room never comes back.
//
// The package has no goroutine that runs all the time. A timer publishes numbers of members that have to wait.
//
// The package knows no driver, no router, no socket and no wire type. Bodies of entries are JSON documents. The
// package that owns an entry's kind makes the body once, and it is stored and sent unchanged, unless its text is recalled. So a
// new kind, or a new field of Fold, needs no migration.
package chat
