// Package eventlog defines the event stream: what pgstore and sqlitestore write beside each fact, and what readers get from it. A
// fact is something that a transaction stores: an entry, a claim, a transfer, or a change of a member, a room, a user or a report.
//
// A transaction that writes facts of the wanted kinds adds one row to the table events. For entries, claims and transfers, the row
// holds references, not copies: a reader loads the fact by its key. For other facts, the row holds ids and some details in JSON. The
// details have no text that a user has written. So the stream never keeps a text that was recalled.
//
// Each row belongs to a chain: in pgstore to the hash chain of its transaction, in sqlitestore to chain 0. The rows of one chain are
// written one after another, because a transaction holds its chain until its commit. So of two rows of a chain, the one that was
// committed later has the greater id, and a cursor needs one position for each chain. No row is ever added before a cursor that was
// given out, however transactions overlap.
//
// The following must always hold:
//
//   - The id of a row is drawn last in its transaction, which has locked all other rows that it changes. So of two transactions that
//     change the same row, the later one has the greater id. Readers return rows in the order of ids. So the events of a room, and
//     those of a user, are in the order of their commits.
//   - A reader that sees a row also sees all rows of its chain with lower ids, as far as they are kept.
//   - A transaction whose outcome was unknown, and which is run again, writes its row once, as it writes its facts once.
package eventlog
