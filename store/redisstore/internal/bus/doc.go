// Package bus implements hub.Bus by pub/sub of Redis, in a cluster by sharded pub/sub. The bus has 16 shards in a cluster,
// else one. A hash of the topic chooses the shard. A shard holds one link at a time (two connections to its master).
// Every instance sends heartbeats through each shard.
//
// Invariants:
//
//   - A shard is up when a heartbeat of this instance has come back through it. The heartbeat must have been sent after
//     the shard's last failure, and arrive after all subscriptions. While any shard is down, the receiver counts the bus
//     as down (Receiver.Down).
//   - Any failure of a link closes it, and the next link looks up the master again. The driver never reconnects.
//   - Every possible loss of a payload is reported, unless its rank is hub.Loose: by Receiver.Down, by Receiver.Suspect, or by
//     a gap in the topic's seqs.
//   - Payloads of a topic arrive in order, and each at most once, even if an instance sends it repeatedly. There is one
//     exception: if Redis refuses a payload, those after it in the same round trip may arrive twice.
//   - A message without a valid tag reaches nothing but Receiver.Forged. So a client of Redis that cannot read the key
//     in SQL cannot speak for an instance. It can only repeat a message that an instance has sent.
//   - An instance drops a repeated message if it has received the message, or a later one of the same publisher. If it does
//     not remember the publisher, it drops messages older than rememberFor, or sent more than beforeStart before its own
//     start. So it accepts a repeated message only if it has received neither that message nor a later one of the publisher
//     on the shard, for example just after it has started.
//   - Publish and Subscribe never wait for Redis. All send queues are bounded.
package bus
