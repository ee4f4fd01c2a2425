// Package presence tells the presence directory (chat.Presence) which sockets open and close on this instance. It announces users
// that come online and go offline to their rooms; chat.Service.AnnouncePresence does so in small rooms only.
//
// It must always hold:
//
//   - The directory receives the changes of this instance's sockets in the order in which they happened.
//   - SocketOpened and SocketClosed never block: neither a connect nor the end of a socket waits for the directory.
//   - If a user has more sockets than allowed, the oldest are closed, on whichever instance they are.
//   - A user whose last socket was closed, and that has another one within offlineDelay, is not announced as offline. The new
//     socket may be on any instance.
//   - Announcements wait during a reconnect storm, and their queue is bounded: users that do not fit are not announced.
//
// Its goroutines:
//
//	goroutine   started by    ends when         may block on
//	tracker     Tracker.Run   its context ends  the directory
//	announcer   Tracker.Run   its context ends  the directory, the rooms
package presence
