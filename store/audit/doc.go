// Package audit compares what a database stores with itself: sums, packets with their seeds and claims, rooms with their
// entries, and the hash chains. Both SQL stores run an audit in one snapshot, while the servers keep running. Citus has no snapshot
// over all nodes, so pgstore there repeats an audit that finds differences. An audit changes nothing.
//
// A scope says which rows an audit looks at: all rows, or those that are newer than what an earlier audit has verified. Some checks,
// such as those of sums, counts and wallets, look at all rows in any scope. The statements have words in braces, which a scope
// replaces:
//
//   - {entries}, {packets}, {claims} and {links} stand for these tables
//   - {erasures} and {retention} stand for these tables, which Citus keeps on its coordinator
//   - {newer} is true for a row of a hash chain to look at
//   - {amended} is true for a row whose room_id and seq are those of a text or packet to look at, and {amends} for an entry that
//     amends one
//
// The position of an audit is the head of each hash chain. A link may be committed after a link of another chain that has a
// higher id. So a scope begins at the oldest new link of all chains, and may contain rows that the earlier audit has seen.
//
// It must always hold: an audit of all rows finds a change by hand of a packet, claim, transfer, entry or link, or of a wallet's
// balance. If the change also fits all sums and hashes, the audit finds it only with heads that were saved before
// (redpacket.AuditQuery.Heads). There is one exception: the id of the transfer of a send or a refund is not checked. Rows of
// other tables may change at any time, so an audit compares them only where they repeat a value of one of these rows.
package audit
