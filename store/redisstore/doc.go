// Package redisstore implements what the instances share in Redis: the Pool that decides grabs, the Bus between the
// instances, presence, rate limits and the notes of newest commits (redpacket.Pool, hub.Bus, chat.Presence, chat.Limiter,
// lineage.Notes). Redis is standalone, behind sentinels, or a cluster.
//
// The Pool is a set of Lua scripts, one file for each job. A batcher calls them: while a call to a node is in
// flight, further requests are collected and sent together. A full batch is sent beside the call in flight.
//
// Invariants of the Pool:
//
//   - A script reads and checks everything about a packet before it writes anything of it. It writes the outbox entry
//     before the share, so no grant exists without its entry. Redis refuses a script for lack of memory only at its
//     first write, so a refused script has changed nothing.
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
// again. The script of the limiter is the only one that must not be repeated, because each run takes tokens.
//
// The Bus is pub/sub, in a cluster sharded pub/sub. It has 16 shards in a cluster, else one. A hash of the topic chooses
// the shard. A shard holds one link at a time (two connections to its master). Every instance sends heartbeats through
// each shard.
//
// Invariants of the Bus:
//
//   - A shard is up only after a heartbeat of this instance has come through it that was sent after its last failure
//     and after all subscriptions. Until then the receiver knows that the shard is down.
//   - Any failure of a link closes it, and the next link looks up the master again. The driver never reconnects.
//   - Every possible loss is reported: by Receiver.Down, by Receiver.Suspect, or by a gap in the topic's numbers.
//   - Payloads of a topic arrive in order, and each arrives once, even if it was sent repeatedly. There is one exception:
//     if Redis refuses a payload, those after it in the same round trip may arrive twice.
//   - A message without a valid tag reaches nothing but Receiver.Forged. So a client of Redis that cannot read the key
//     in SQL cannot speak for an instance. It can only repeat a message that an instance has sent.
//   - An instance drops a repeated message if it has received the message, or a later one of the same publisher. If it does
//     not remember the publisher, it drops messages older than rememberFor, or sent more than beforeStart before its own
//     start. So in effect only an instance that has just started accepts a repeated message.
//   - Publish and Subscribe never wait for Redis. All queues are bounded.
package redisstore
