// Package audit compares what a database stores with itself: sums, packets with their seeds and claims, rooms with their entries, and the hash
// chains. Both SQL stores run it, in one snapshot, while the servers keep running. It changes nothing.
//
// A scope says which rows it looks at: all rows, or those that are newer than what an earlier audit has verified. The statements have
// words in braces, which a scope replaces:
//
//   - {entries}, {packets}, {claims} and {links} stand for these tables
//   - {newer} is true for a chained row to look at
//   - {amended} is true for a row whose room_id and seq are those of a text to look at
//
// The position of an audit is the head of each hash chain. A link may be committed after a link of another chain that has a
// higher id. So a scope begins at the oldest new link of all chains, and may contain rows that the earlier audit has seen.
//
// It must always hold: every change by hand of a packet, claim, transfer, wallet, entry or link is found, whatever it is. Rows of other
// tables may change at any time, so the audit compares them only where they say the same as one of these.
package audit
