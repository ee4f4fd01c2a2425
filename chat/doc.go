// Package chat owns rooms, their members, and the numbered entries of each room.
//
// Invariants:
//
//   - A room's entries are numbered 1, 2, 3, … without gaps, in commit order. That number, the seq, is also the cursor of
//     history, the position from which a client resumes, and the position up to which a member has read.
//   - An entry never changes after it is committed, with one exception: a recall empties a text and its edits. Edits, recalls
//     and reactions are entries of their own. Their result is kept beside the text or packet (Fold), and history shows it.
//   - Change.Rule, Joining.Refusal, NewLink.Refusal, Draft.Refusal and Amendment.Apply decide on changes, joins, invite links,
//     entries and amendments. So these rules are the same in every engine. Three rules of entries are checked by the engines, under the lock of the
//     room: that a reply is to an entry of it, that its files are ready and belong to no other entry, and FrozenRefusal with what a deserted direct room
//     refuses. Rule, Draft.Refusal and Apply also decide what System
//     may do, which is neither a user nor a member.
//   - The Store locks the state before such a rule reads it, and holds the lock until the commit. It may refuse a change or a join
//     without a lock. In CreateRoom, Join and Direct the Store itself checks the limits on rooms. In
//     CreateRoom and Direct it also checks blocks and contact settings.
//   - No stored change is published before it is committed: the Service calls its Publisher only after the Store has returned.
//     Typing and presence are published without being stored. If the outcome of a write is unknown, all instances are told to compare the
//     room with the store (OutcomeUnknown).
//   - A text, a packet, a new room, a report and an invite link each carry a key of the client. A key names one request for ever. The same key with the same content gives the first result again; with other
//     content it gives ErrKeyReused. The key of an invite link is known only while the link exists. The keys of reports and of
//     links are separate from all others.
//   - Cached standings and users are exact for every change made through this Service. A change of another instance counts as
//     soon as its notice (Publisher.StandingChanged) has arrived, and after a minute at the latest. While notices may be lost, no standing and no user is cached.
//     That a room was deleted stays cached, because a deleted room never comes back.
//   - An index names candidates for a search, and never decides: the words are looked for in the entry as it is now. An entry
//     is committed before its words are in the index; an edit and a recall change them in their own transaction (indexer.go, search.go).
//
// Of the package, only Indexer.Run runs all the time, on a goroutine of its caller; it may block on the Store. Timers publish numbers of
// members that have to wait (memberCounts), and repeat notices that may be lost (repeat.go).
//
// The package knows no driver, no router, no socket and no wire type. Bodies of entries are JSON documents. The package that
// owns an entry's kind makes the body once. The body is stored and published unchanged, unless its text is recalled. Only
// history shows it with its Fold applied. So a new kind, or a new field of Fold, needs no migration.
package chat
