// Package tables reads and writes the tables that both SQL databases keep in the same way. The stores pgstore and
// sqlitestore embed Tables, which has methods of chat.Store, redpacket.Ledger and the other interfaces of a store. They also use
// the package's functions inside their own transactions. What the stores do differently stays with them: how a transaction runs and
// commits, what shares one, sending and ending packets and paying claims, and the links of hash chains.
//
// It must always hold: rows are locked in the order that package pgstore names, although SQLite, which has one writer, locks none. A
// transaction may run again after a commit whose outcome is unknown (Tx.Again).
//
// A statement of this package works on both databases, with its arguments as $1, $2 and so on.
// What must differ comes from a Dialect, or is marked in the text for Citus (citus.go). Values that vary are arguments
// and never part of the text, because sqlitestore keeps a prepared statement for each text.
package tables
