// Package store opens the engines that a configuration names, and closes them in order.
//
// There are two modes. Embedded mode uses SQLite in a folder, and this process's memory for everything else. Scaled
// mode uses Postgres as the truth, and Redis for the Pool, the bus between instances, presence and rates.
//
// It imports the engines pgstore, sqlitestore, redisstore and memstore. Each imports the packages whose interfaces it
// implements: chat, redpacket, and redisstore also hub.
// Both SQL engines use tables, audit, chain, eventlog, lineage, secret and security; tables uses cursor. Tests use
// storetest and loopback.
//
// Invariants: both modes have the same interfaces and give the same guarantees. In embedded mode, at most one process
// serves from a data folder. Meanwhile other processes may read its database, and may write what needs only SQL, such as
// credits. Opening a folder for reading creates nothing in it.
package store
