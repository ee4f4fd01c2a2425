// Package hub owns this instance's connections, the topics they listen to, and the local end of the bus. It moves
// bytes and knows nothing of what they mean: no JSON, no SQL, no tokens, no money.
//
// It must always hold:
//
//   - A connection gets the sequenced messages of a topic in order, without gaps and without duplicates, from the
//     position that Subscribe returned. Who cannot take them is closed (3008) and resumes by sequence; only messages
//     without a sequence number are ever shed.
//   - Behind a message with a Last, nothing of the topic goes to who listens to that one, too, whatever way it comes.
//   - While the bus may lose or has lost something, the store is asked: what no gap shows is found by comparing.
//   - Publishing never waits for a socket, the bus or the store. Nothing is written or fetched under a lock.
//   - Only the flusher writes to a socket, and always whole frames: in one Write, or in one try and a Write of what the
//     try has left. It may be whoever calls Flush. The one exception is gorilla's close frame 1002 when the peer breaks the
//     protocol: the connection ends with it, whatever is written beside it.
//   - A flusher that several connections share (a round) waits for none of them, and Flush for nobody.
//   - What may be late is so by a tick, and by four at most while its client waits for an answer.
//   - An ear hears for many connections, so it waits for none of them: what might wait, or is not whole, is for a reader.
//   - Nothing grows without bound: queues, and what is kept for those who come back, are bounded in bytes, what waits behind
//     a gap in number, a message that comes in by time too. Replies do not count for a queue's bound; whoever makes them
//     waits for their reader (Conn.CatchUp).
//   - An idle connection costs its structs: no channel, ticker, timer or buffer of its own and, where it can park (Linux,
//     plain TCP), no goroutine.
//
// The goroutines:
//
//	goroutine            started by                      ends when                      may block on
//	reader, one a conn   Attach, an ear, a close         error, close frame, parking    socket read, Handler.Frame
//	ears, one a core     Run                             ctx                            Handler.Frame, briefly
//	flusher, on demand   an idle queue, what a try left  the queue is empty             socket write with deadline
//	round, on demand     pushes and pings to many        each has had one try           nothing
//	clock                Run                             ctx                            nothing
//	repairers (4)        Run                             ctx                            Options.Fetch
//	comparer             Run                             ctx                            Options.LastSeqs
//	bus                  Run                             ctx                            Bus.Run
//	readFills            Recent                          Fetch answers                  Options.Fetch, 5 s
//
// Receive, Suspect, Down, and so Handler.Signal and Peers, are called on goroutines of the bus.
//
// The lock order; a lock may be held when taking one to its right:
//
//	topic.mu -> Conn.mu -> a wheel's mu, late.mu
//	topic.mu -> repairs.mu, suspects.mu
//	shard.mu -> the bus's own locks (Subscribe and Unsubscribe are called under it, so that they come in order)
//	Hub.mu   -> nothing
//	ear.mu   -> Conn.mu
//	No lock is held while calling Fetch, LastSeqs, a Handler or Peers; Encode and Revise are called under topic.mu, announce under Conn.mu too.
package hub
