// Package poll lets connections wait for their next message without a goroutine each. It also has the reads and writes that do
// not block.
//
// A goroutine that waits to read costs a stack, a third of the memory of an idle connection, and a wake-up for each
// message. A Poller therefore watches all parked connections, which have no goroutine. There are two pollers:
//
//   - Goroutines parks nothing: each connection keeps its reading goroutine. It works on every operating system, and tests
//     compare the other poller with it.
//   - The epoll poller (Linux) has a few goroutines, each with an epoll instance, that wait for all connections.
//
// It must always hold:
//
//   - A connection is read by one goroutine at a time: by its own, or, between Conn.Claim and Conn.Park, by a poller.
//   - A poller's goroutine serves many connections, so it waits for none of them. It makes system calls that do not block and
//     calls methods of Conn, none of which blocks. Work that may block is returned as a function, which runs on a goroutine of
//     its own.
//   - A poller misses no event: data, the end of the stream and urgent data each wake the connection.
//   - After Run has returned, every connection that was parked has a goroutine again.
//
// The goroutines:
//
//	goroutine                started by    ends when       may block on
//	epoll loops (GOMAXPROCS) Epoll.Run     ctx is done     the epoll instance
//
// The lock order: loop.mu -> the lock of a Conn (Closing). Claim, Park, TryHandle and Flush are called without loop.mu.
package poll
