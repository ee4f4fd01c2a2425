// Package loopback starts private servers for one machine: Redis alone, as a cluster or watched by sentinels,
// Postgres with or without PgBouncer, and a TCP proxy that loses bytes on purpose. Tests break them as machines
// break; a cluster or a measurement on one machine runs on them.
//
// It must always hold: servers listen on 127.0.0.1 only, and ask for no password; they write nowhere but into
// the folder they were given; a server keeps its port from its start to its Stop, however often it is killed in
// between; no server outlives this process (on Linux not even when it dies by kill -9).
//
// A context bounds how long a start may take, not how long the server lives: whoever starts it calls Stop.
// Redis 7 and Postgres 14 are the oldest that are asked for. Where a program is missing, the error names the
// command that installs it.
package loopback
