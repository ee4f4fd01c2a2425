// Package eventlog defines the event stream: what pgstore and sqlitestore write beside each fact, and what readers get from it.
//
// A transaction that writes facts adds one row to the table events. The row holds references to the facts, not copies. A reader
// loads the facts by their keys, so the stream never keeps a text that was recalled.
//
// The rows of one hash chain are written one after another, because a transaction holds its chain until its commit. So a later
// commit in a chain has a greater id, and one position for each chain is all that a cursor needs. Nothing ever appears behind a
// cursor, however transactions overlap.
//
// The following must always hold:
//
//   - The id of a row is drawn after the transaction has locked all its rows. So of two facts that lock the same row, the later one
//     has the greater id. Readers return rows in the order of ids. So order holds for each room and for each user.
//   - A reader that sees a row also sees all rows of its chain with lower ids, as far as they are kept.
//   - A transaction whose outcome was unknown, and which is run again, writes its row once, as it writes its facts once.
package eventlog
