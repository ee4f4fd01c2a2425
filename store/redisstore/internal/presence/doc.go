// Package presence implements chat.Presence with one key for each user, which holds the user's sockets on all instances.
//
// Invariants:
//
//   - Every key expires by itself, with the last lease of its sockets. So a user whose instances have died goes offline.
//   - Each instance remembers its own sockets and renews them. If Redis loses them, they come back with their original
//     start.
//   - Both scripts are safe to repeat.
//   - A call waits for a slow Redis for at most a second; only the removal of all sockets at the end of Run may take three. A
//     silent node of a cluster does not delay the renewal of sockets on the others.
package presence
