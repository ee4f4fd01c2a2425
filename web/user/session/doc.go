// Package session handles a socket from the upgrade to the close. It stands between the hub, which moves the socket's bytes, and
// package api, which answers the commands.
//
// It owns:
//
//   - Session, the hub.Handler of one connection: it decodes frames, puts commands in flight and sends their replies. If
//     Config.Paced is set, it limits the connection to 50 commands, pongs and control frames a second in total (burst 100).
//   - The connect command: whose token it is, which rooms the user is in, which entries the client missed.
//   - Signals from this and other instances, which change the rooms of an open session or close its socket, and the rechecks
//     that make up for lost signals.
//   - Manager, which knows the open sessions of this instance and listens to other instances (hub.Peers).
//
// It must always hold:
//
//   - Commands of one connection start in the order sent. Commands that only read, grabs and typing overlap: they may start
//     while an earlier command runs. Of the commands that do not overlap, each starts only after the one before it was answered. Before the
//     connect reply no command overlaps.
//   - No push is sent on a connection before its connect reply. No entry of a room at or below the position in that reply
//     comes after it.
//   - An idle session costs no goroutine, timer, channel or map of its own: the hub reads its socket and closes it in time
//     (hub.Conn.CloseAt).
//   - A session never blocks the goroutine on which the hub reads sockets: commands that may wait run on their own goroutines,
//     and a frame with too many commands leaves the rest of them as work that waits (Session.Frame).
//   - Signals of a session are applied one after the other, in the order in which they came. If more than maxSignals wait, the
//     further ones are dropped, except those that close sockets.
//
// The goroutines:
//
//	goroutine                started by                     ends when                            may block on
//	one per running command  Session.start and startLocked  it and its successors have ended     all that it needs (see below)
//	signals                  Session.applyCached            none is left to apply                the store, StandingWithin each
//	flush beside a command   command.finish                 the socket has taken what it can     nothing
//	rechecks                 Manager.Run                    its context ends                     the store
//	watchRevocations         Manager.Run, unless Alone      its context ends                     the store
//
// A running command may wait for the services, for the host's keys or verdict, for a slot of the connect limiter, for other
// commands that scan, and until the client has read earlier replies.
//
// The lock order: the registry's mutex, then Session.mu, then the locks of the hub. The first two are not held while a service may
// block. Presence.SocketOpened is called under the registry's mutex, and chat.Service.Forget under Session.mu: these do not block.
package session
