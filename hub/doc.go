// Package hub owns the connections of this instance, the topics that they subscribe to, and this instance's end of the bus.
// It moves bytes and does not know their meaning: it parses no JSON, and knows no SQL, tokens or money.
//
// A message goes this way: Hub.Publish -> registry -> topic -> Subscriber (Conn) -> socket, and to the bus. On another
// instance it goes from the bus to receiver -> registry -> topic. The layers, from top to bottom. All use the types that bus.go
// declares, and topic.go uses gap of repair.go and backlog of resume.go. Otherwise a layer uses only those below it:
//
//	hub.go, bus.go, stats.go           the hub and its public face; the receiver: what comes from the bus
//	conn.go                            a connection: its handler, its subscriptions, its socket
//	repair.go, resume.go               the repairer and the resumer read from the store: gaps, silent losses, missed messages
//	registry, in hub.go                the topics by name
//	topic.go                           order, gap, backlog and subscriptions of one topic
//	internal/socket                    one WebSocket: read, handle, queue, flush, write, close
//	internal/compare                   comparing positions with the store
//	internal/poll, wheel, work         waiting for many sockets; timers; queues for workers
//	internal/envelope                  the bytes on the bus
//	internal/openset                   the open connections, which must have ended before Run returns
//
// Invariants:
//
//   - A subscriber gets the sequenced messages of a topic in order, without gaps and without duplicates, after the position
//     that Subscribe returned, until its subscription or connection ends. The connection of a client that reads too slowly is
//     closed (3008); the client reconnects and resumes by seq. While a connection stays open, only messages without a seq are
//     dropped for it.
//   - A message may end the subscription of a user: its field Final then names the user's own topic. After it the subscribers
//     of that topic receive no further message of the message's topic, whether by publish or by repair, until they subscribe
//     again.
//   - While the bus may lose messages, and after it has lost some, the hub reads the store. A loss that no later message
//     reveals is found by comparing the last seqs, and so is a message that nobody publishes (Hub.CompareTopic).
//   - If the store has lost messages that were delivered, the connections of their topic are closed (3014), and the topic's
//     position is forgotten.
//   - No message with a seq from an earlier epoch of the store is delivered after Reset, however long it was on the bus. This
//     holds if each message is published within doubtFor (10 s) after its commit.
//   - Publishing never waits for a socket, the bus or the store. Nothing is written to a socket or fetched from the store under
//     a lock.
//   - Handlers must not block: Handler.Frame returns the work that has to wait, and Conn has no method that blocks.
//   - The memory for messages is bounded. Pushes in queues and backlogs are bounded in bytes, messages and signals behind a gap
//     in number. Replies are bounded by their handler, which waits for the client to take them (Conn.Behind).
//
// The goroutines, besides those of socket and poll:
//
//	goroutine       started by   ends when        may block on
//	clock           Run          ctx              nothing
//	repairers (4)   Run          ctx              Options.Fetch
//	comparer        Run          ctx              Options.LastSeqs
//	bus             Run          ctx, an error    Bus.Run
//	resumer.read    Recent       Fetch returns    Options.Fetch, 5 s
//
// The bus calls the methods of Receiver, and through them those of Peers, on goroutines of its own. If there is a bus, Run also
// calls Peers.BusLost once when it starts. Handler.Signal is called on a goroutine of the bus, on one that calls Hub.Publish or
// Hub.Signal, or on one of a repairer.
//
// The lock order; a lock may be held while taking one to its right:
//
//	topic.mu -> Conn.mu
//	topic.mu -> arrivals.mu
//	topic.mu -> the locks of socket, wheel and work
//	shard.mu -> the bus's own locks (Bus.Subscribe and Bus.Unsubscribe are called under shard.mu, so they come in order)
//	openset's lock -> nothing
//
// Of the functions in Options, Encode, Revise and the function that Revise returns are called under topic.mu. So is the
// announce of Conn.Subscribe. No lock is held while calling the others, a Handler or Peers (the receiver of notices of other
// instances).
package hub
