// Package audit compares what a database stores with itself: sums, packets with their seeds and claims, rooms with their
// entries, and the hash chains. Both SQL stores run an audit in one snapshot, while the servers keep running. An audit changes
// nothing.
//
// A scope says which rows an audit looks at: all rows, or those that are newer than what an earlier audit has verified. The
// statements have words in braces, which a scope replaces:
//
//   - {entries}, {packets}, {claims} and {links} stand for these tables
//   - {newer} is true for a chained row to look at
//   - {amended} is true for a row whose room_id and seq are those of a text or packet to look at
//
// The position of an audit is the head of each hash chain. A link may be committed after a link of another chain that has a
// higher id. So a scope begins at the oldest new link of all chains, and may contain rows that the earlier audit has seen.
//
// It must always hold: an audit finds every change by hand of a packet, claim, transfer, wallet, entry or link. Rows of other
// tables may change at any time, so an audit compares them only where they repeat a value of one of these rows.
package audit
