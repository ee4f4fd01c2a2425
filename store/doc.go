// Package store opens the engines that a configuration names, and closes them in order.
//
// There are two modes. Embedded mode uses SQLite in a folder, and this process's memory for everything else. Scaled
// mode uses Postgres as the truth. It uses Redis for the Pool, the bus between instances, presence, rates that count for all
// instances together, and the notes of package lineage. In both modes the contents of files are in an object store (package objects).
//
// Package store imports the engines pgstore, sqlitestore, redisstore, memstore and objects. Each engine imports the packages whose
// interfaces it implements: chat and redpacket; objects and both SQL engines chat/files; redisstore also hub; redisstore and both SQL engines also lineage.
// Both SQL engines use tables, audit, chain, eventlog and secret; tables uses cursor and security. Tests use
// storetest, loopback and enginetest.
//
// Invariants: both modes use the same interfaces and give the same guarantees. In embedded mode, at most one process serves from a
// data folder (not enforced on systems without flock, such as Windows). Meanwhile other processes may read the database of the
// folder, and may write what needs only SQL, such as credits. OpenBooks, OpenAuditor, Backup, Copy and Examine create neither the
// data folder nor its database.
package store
