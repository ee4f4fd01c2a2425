// Package redisstore keeps the arbiter of grabs (and what else instances share at memory speed) in Redis:
// standalone, behind sentinels, or a cluster.
//
// The Pool is a handful of Lua scripts, one file for each job, called through a combiner: while a call to a
// node is in flight the next callers gather, and go together; a crowd goes beside it.
//
// It must always hold, for the Pool:
//
//   - A script reads and checks all of a packet before it writes of it, and the outbox entry before the share: what Redis
//     refuses for want of memory has changed nothing, and no grant exists without its entry.
//   - All keys of a packet share the slot of its partition, and exist from its load on.
//   - An image is believed only under the replication id it was loaded under: a new master may lack the old
//     one's last writes.
//   - Ids are opaque strings in Lua; money never gets there. Times are Redis's own.
//   - Every script may be repeated. So an outcome that is unknown is asked for again by whoever needs it.
//   - A caller hears within patience, whatever Redis does; nobody waits for another one's node.
//
// And for presence and rates: every key ends by itself; what Redis loses of presence each instance notes again from its
// own memory; a token is taken once at most, which is why its script alone may not be repeated.
//
// The Bus is pub/sub, sharded in a cluster, in lanes: one, or one for each of 16 partitions. A lane holds one line at
// a time (two connections to its master), and heartbeats of every instance go through each lane.
//
// It must always hold, for the Bus:
//
//   - A lane is up only when a heartbeat of our own has come through it that was sent after its last failure and
//     after all subscriptions. Until then the receiver knows that it is down.
//   - Whatever is wrong with a line ends it, and the next one asks anew where the master is. Nothing reconnects
//     below us.
//   - Whatever may have been lost is told: by Down, by Suspect, or by a higher number of the same topic.
//   - Payloads of a topic come in order, and once, however often they were sent; again only when Redis had refused
//     one before them in the same round trip.
//   - Publishing and subscribing never wait for Redis, and what waits for it is bounded.
package redisstore
