// Package lineage notices that the SQL database has gone back in time: a backup was restored, or a standby took over that
// lacked the last commits. It decides whether anything is missing, and what the instance does then.
//
// The identity of a Postgres server names its system, its timeline, the database and the table entries. The database stores the
// identity of the server that it was last used on, and its epoch. When an instance starts, and when the identity of the server
// changes, the instance looks up the newest known commits in the database. Each instance knows its own newest commits. In scaled
// mode each also notes them in Redis, about once a second and when it stops.
//
//   - If all these commits are there, no commit counts as lost. The new identity is stored, and the epoch stays.
//   - If one is missing, a new epoch begins. If the identity has changed, a new epoch also begins in two other cases: Redis has no
//     notes, or the epoch is not the one that was noted or served last.
//
// The transaction that begins an epoch also forgets the seeds that were drawn for the next packet of each user. Packets that are open
// then are ended early, because their seeds may have been revealed by commits that are lost. Every instance drops what it remembers
// from SQL and closes its sockets.
//
// Without a change of identity, a new epoch begins in two cases: a transaction finds that the newest link of its hash chain is gone
// (Store.OnLoss), or an operator runs hongbao restored. SQLite has only these two cases, because a file has no identity.
//
// It must always hold:
//
//   - No call of this instance, except those of Store, reaches a server of another identity before the comparison with it has ended
//     (Store.Serve). Behind a proxy that changes servers unnoticed, calls may reach the new server for up to checkEvery.
//   - Of all instances that find something missing, one begins the new epoch. The others adopt it.
//   - What an instance remembers is of the epoch that it serves.
//
// The SQL stores implement Store, and redisstore implements Notes.
//
// Watch.Run needs a goroutine of its own, which may block on SQL and Redis.
package lineage
