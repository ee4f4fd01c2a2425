// Package pool implements redpacket.Pool, which decides grabs, by a set of Lua scripts, one file for each job. A batcher
// for each node sends grabs and acks: while a batch to a node is in flight, further requests are collected and sent together.
// When 64 requests are collected, they are sent as a second batch, without waiting for the one in flight. The other scripts
// are called without a batcher.
//
// Invariants:
//
//   - A script reads and checks everything about a packet before it writes anything of it. A grab writes the outbox entry
//     before the share, so it leaves no grant without its entry. Redis refuses a script for lack of memory only at its
//     first write, so a refused script has changed nothing.
//   - All keys that a script uses for a packet are in the slot of its partition. They exist from the packet's load on; only
//     its image expires, an hour after SQL has closed the packet.
//   - An image (a packet's state in Redis) counts only while its node has the replication id under which the image was
//     loaded. A failover changes the id, and the new master may lack the last writes of the old one.
//   - Ids are opaque strings in Lua. No script gets an amount of money. All times are Redis's own, except the deadline.
//   - Every script is safe to repeat. So a caller that does not know an outcome calls again.
//   - The counter held of a partition is exactly the number of claims in its outbox: grabs and acks change both in one
//     script. Recount repairs held after an operator has edited the data, or Redis has evicted a key.
//   - Every call returns within nodes.Patience, whatever Redis does. No caller waits for a node it does not need.
package pool
