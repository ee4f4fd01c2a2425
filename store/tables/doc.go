// Package tables reads and writes the tables that both SQL databases keep in the same way. The stores pgstore and sqlitestore embed Tables,
// whose types each of which has the methods of one subject, and use its functions inside their own transactions. What they do differently stays
// with them: locks and their order, batches, commits whose outcome is unknown, hash chains.
//
// It must always hold: a statement of this package works on both databases, with its arguments as $1, $2 and so on. What must differ
// comes from a Dialect.
package tables
