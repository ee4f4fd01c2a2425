// Package memstore keeps the Pool, rate limits and presence in this process's memory. An installation without Redis
// runs on it, and SQLite. With Redis, only its Limiter is used, for limits of one instance alone. The package is also the executable
// specification of redisstore: storetest checks the same contracts on both. It implements redpacket.Pool, chat.Limiter and
// chat.Presence. It has no bus, because an installation without Redis has one hub.
//
// Invariants of the Pool:
//
//   - No user has two shares of a packet, and no share has two users.
//   - The lowest free share is granted first. Cost and memory follow the grants, not the packet's count.
//   - While the image of a closed packet is kept, the packet stays closed, with the first reason. If SQL has closed the packet
//     (retired), it does not return to the due index, which holds the packets by due date.
//   - A grant is in the outbox until it is acked, even if its packet's image is lost. Only Forget, which tests call, clears the outbox.
//   - Memory is bounded by the open packets, the packets that SQL has closed within the last RetiredFor, and the limit of the outbox.
//
// Nothing here survives the process: the Ledger is the truth, and Load restores images from it. The Pool has no
// goroutines. Each partition has one lock. No goroutine holds two of them, and none blocks while it holds one.
package memstore
