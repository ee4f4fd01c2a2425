// Package loopback starts private servers on one machine: Redis alone, as a cluster or watched by sentinels; Postgres
// with or without standbys and PgBouncer, or as a Citus cluster; nginx; HAProxy; and a TCP proxy that delays and loses
// bytes on purpose. A Clock gives servers a wrong time. Tests use the package to inject the failures of machines and
// networks. Measurements on one machine use the package, too.
//
// Invariants:
//
//   - Servers listen on 127.0.0.1 only, and need no password, unless the caller configures them otherwise.
//   - Servers write files only into the folder they were given. Some also use shared memory of the system.
//   - A server keeps its port from its start to its Stop, even if it is killed in between.
//   - On Linux no server outlives this process, even after SIGKILL. Elsewhere a server may go on if this process ends
//     without Stop.
//
// A context bounds the start of a server, not its life: the caller must call Stop. The package needs at least Redis 7 and
// Postgres 14. If a program is missing, the error contains the command that installs it. For Citus it contains the address
// of instructions.
package loopback
