// Package redisstore keeps the arbiter of grabs (and what else instances share at memory speed) in Redis:
// standalone, behind sentinels, or a cluster.
//
// The Pool is a handful of Lua scripts, one file for each job, called through a combiner: while a call to a
// node is in flight the next callers gather, and go together.
//
// It must always hold, for the Pool:
//
//   - A script reads and checks everything before its first write, and the first write is the outbox entry:
//     what Redis refuses for want of memory has changed nothing, and no grant exists without its entry.
//   - All keys of a packet share the slot of its partition, and exist from its load on.
//   - An image is believed only under the replication id it was loaded under: a new master may lack the old
//     one's last writes.
//   - Ids are opaque strings in Lua; money never gets there. Times are Redis's own, in milliseconds.
//   - Every script may be repeated. So an outcome that is unknown is asked for again by whoever needs it.
//   - A caller hears within patience, whatever Redis does; nobody waits for another one's node.
package redisstore
