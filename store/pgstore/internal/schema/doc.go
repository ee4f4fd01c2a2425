// Package schema owns what is about a database as a whole: its migrations, the split of its large tables over the workers of Citus,
// and what reads all of it: audits, the copy from another engine, and the examination for hongbao doctor.
//
// It must always hold:
//
//   - A migration is one transaction, and instances that start at once migrate one after another.
//   - A migration waits only briefly for a table that is in use, so that transactions which need that table wait only briefly behind it.
//   - Audits, Examine and CheckEmpty write nothing. Fill writes only into an empty database, and all or nothing.
//   - There is no snapshot of all nodes of Citus, so there an audit that finds differences is made twice, and reports what both found.
//
// A migration starts a goroutine, which logs what the migration waits for, and ends audits in the background. It ends with the migration, and may
// block on Postgres, for at most watchTimeout.
package schema
