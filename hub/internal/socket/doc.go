// Package socket owns one WebSocket connection: it reads, queues, writes, pings and closes. It moves bytes, and knows
// neither topics nor the meaning of a message.
//
// The files: open.go opens and closes a connection, socket.go has the Socket and its queue, read.go handles received
// bytes, and write.go encodes and writes frames. The parts of a Socket:
//
//   - reader is its reading side, on a goroutine of its own or on that of a poller (package poll).
//   - queue holds the frames that wait to be written, within bounds.
//   - flusher is its writing side, on the goroutine that called Flush or on one of its own.
//
// Invariants:
//
//   - Only a flusher writes, and always whole frames. The one exception is gorilla's close frame 1002 when the peer breaks
//     the protocol: the connection then ends.
//   - No method of a Socket waits for the client, and nothing is written under a lock.
//   - One goroutine may flush many connections in turn (a Round). It waits for none of them.
//   - A poller's goroutine never blocks. A reader goroutine takes over work that may block, and incomplete messages.
//   - The pushes in a queue are bounded in bytes. Over the bound, frames are dropped that their sender has marked as less
//     important (Frame.Shed). If that is not enough, the connection is closed (3008). Replies do not count: the client's next
//     message is handled only when it has taken enough of its replies (Behind).
//   - A deferred frame is held back for one tick at most, or for four while its client expects a reply.
//   - If a message of the client is incomplete after 30 seconds, the connection is closed (3012) when its timer next fires.
//   - An idle connection costs its structs and gorilla's read buffer (smallBuffer). It has no channel and no runtime timer, no
//     other buffer, and no goroutine if it is parked.
//
// The goroutines:
//
//	goroutine            started by                         ends when                    may block on
//	reader               Start, a poller, a close           error, close frame, parking  socket read, the rest of Owner.Frame
//	flusher              an idle queue, an incomplete write the queue is empty           socket write with deadline
//	round                Deliver to many, pings             each was tried once          nothing
//
// The lock order: Socket.mu -> a wheel's lock, or the lock of the Group that the sockets of a hub share. No method of Owner is
// called under a lock.
package socket
