// Package redisstore implements what the instances share in Redis: the Pool that decides grabs, the Bus between the
// instances, presence and rate limits. Redis is standalone, behind sentinels, or a cluster.
//
// The Pool is a set of Lua scripts, one file for each job. A batcher calls them: while a call to a node is in
// flight, further requests are collected and sent together. A full batch is sent beside the call in flight.
//
// Invariants of the Pool:
//
//   - A script reads and checks everything about a packet before it writes anything of it. It writes the outbox entry
//     before the share. So a script that Redis refuses for lack of memory has changed nothing, and no grant exists
//     without its entry.
//   - All keys of a packet are in the slot of its partition, and exist from its load on.
//   - An image (a packet's state in Redis) is believed only under the replication id under which it was loaded: a new
//     master may lack the last writes of the old one.
//   - Ids are opaque strings in Lua. Amounts of money never reach Redis. All times are Redis's own.
//   - Every script may be repeated. So a caller that does not know an outcome calls again.
//   - The counter held of a partition is exactly the number of claims in its outbox: grabs and acks change both in one
//     script. Recount repairs held after somebody has edited the data.
//   - No script of the Pool runs on a node before the node was probed and found fit (nodeChecks). Until then its
//     calls are refused, so a store opens while Redis cannot be reached.
//   - Every call returns within patience, whatever Redis does. No caller waits for a node it does not need.
//
// Presence and rates: every key expires by itself. If Redis loses presence, each instance enters its own sockets
// again. A request takes at most one token, so the script of the limiter is the one that must not be repeated.
//
// The Bus is pub/sub, sharded in a cluster. It has 16 shards in a cluster, else one. A hash of the
// topic chooses the shard. A shard holds one link
// at a time (two connections to its master). Every instance sends heartbeats through each shard.
//
// Invariants of the Bus:
//
//   - A shard is up only after a heartbeat of this instance has come through it that was sent after its last failure
//     and after all subscriptions. Until then the receiver knows that the shard is down.
//   - Any failure of a link closes it, and the next link looks up the master again. The driver never reconnects.
//   - Every possible loss is reported: by Receiver.Down, by Receiver.Suspect, or by a gap in the topic's numbers.
//   - Payloads of a topic arrive in order and once, however often they were sent. A payload may arrive again only if
//     Redis refused an earlier one in the same round trip.
//   - Publish and Subscribe never wait for Redis. All queues are bounded.
package redisstore
