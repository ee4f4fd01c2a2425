// Package session is the life of a socket between the hub, which moves its bytes, and package api, which answers its commands.
//
// It owns:
//
//   - Session, the hub.Handler of one connection: it decodes frames, puts commands in flight and sends their replies. It keeps
//     the pace of the connection, 50 commands a second.
//   - The connect command: whose token it is, which rooms the user is in, which entries the client missed.
//   - Signals from this and other instances, which change the rooms of an open session, and the rechecks that make up for
//     lost signals.
//   - Manager, which knows the open sessions of this instance and listens to other instances (hub.Peers).
//
// It must always hold:
//
//   - Commands of one connection start in the order sent, each after the ones before it were answered. Commands that
//     only read, and grabs, overlap: they do not wait for those before them.
//   - No push is sent on a connection before its connect reply. No entry of a room at or below the position in that reply
//     comes after it.
//   - An idle session costs no goroutine, timer, channel or map of its own: the hub reads its socket and keeps its time.
//   - The hub's reading goroutine does not block on an idle session: commands that may wait run on their own goroutines.
//   - A grab whose share is granted but not committed after Config.PendingAfter is answered "pending". The push grab_result
//     follows, for such grabs only.
//   - Signals of a session are applied one after the other, in the order in which they came.
//
// The goroutines:
//
//	goroutine                  started by       ends when                            may block on
//	one per running command    Session.start    it and its successors are answered   the services
//	signals of other instances Session.Signal   none is left to apply                the store, 1 s each
//	flush beside a command     Session.finish   the replies are written              nothing
//	rechecks                   Manager.Run      its context ends                     the store
//
// The lock order: the registry's mutex, then Session.mu. Neither is held while a service may block. Presence.SocketOpened is called
// under the registry's mutex, and chat.Service.Forget under Session.mu: these do not block.
package session
