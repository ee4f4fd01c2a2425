// Package lineage notices that the SQL database has gone back in time: a backup was restored, or a standby took over that
// lacked the last commits. It owns the decision whether anything is missing, and what the instance does then.
//
// The identity of a server names its data files, its timeline and its tables. The database stores the identity of the server
// that it was last used on, and its epoch. If the identity of the server
// changes, the newest commits that are known outside SQL are looked up in the database. Each instance knows its own newest
// commits. Each also notes them in Redis, once a second and when it stops.
//
//   - If all are there, no acknowledged commit is lost. The new identity is stored, and the epoch stays.
//   - If one is missing, or if nothing was noted, a new epoch begins. One transaction stores it and forgets the seeds
//     that were drawn for the next packet of each user. Packets that are open then are ended early, because their seeds may have been
//     revealed by commits that are lost. Every instance drops what it remembers from SQL and closes its sockets.
//
// A new epoch also begins, without such a change, when a transaction finds that the newest link of its chain is gone
// (Store.OnLoss).
//
// It must always hold:
//
//   - No call of this instance reaches a server of another identity before the comparison with it has ended (Store.Serve).
//     Behind a proxy that changes servers unnoticed, calls may reach the new server for up to checkEvery.
//   - Of all instances that find something missing, one begins the new epoch. The others adopt it.
//   - What an instance remembers is of the epoch that it serves.
//
// The SQL stores implement Store, and redisstore implements Notes.
//
// Watch runs in one goroutine of its own, which may block on SQL and Redis.
package lineage
