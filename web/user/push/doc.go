// Package push turns what the services publish into messages of the hub: pushes for clients, and signals and notices for the
// server's own instances. It is the only package that encodes and decodes signals and notices. Package wire encodes the pushes.
//
// It owns:
//
//   - Publisher, which the services publish to.
//   - Functions for hub.Options: Encoder encodes messages for clients, Decode finds the Meta of a message of another instance,
//     Ping makes pings, Revise empties recalled texts and their edits, Traced records a span for a message of another instance, and
//     Repair reads entries and last seqs from the store.
//   - The names of the hub's topics.
//   - Signals and notices. A Signal goes to the sessions of one user or room. A Notice goes to all other instances, which then
//     drop something from their caches.
//
// It must always hold:
//
//   - An entry has the same bytes whether it was just committed or read again from the store, unless its text was recalled in
//     between.
//   - The progress of a packet that one instance sends never goes back, and never comes after the packet's packet_done entry, as
//     long as the packet is among the last 10,000 whose progress or end that instance has sent.
//   - An entry that ends the membership of one user (kicked, banned, left_private) is the last message of the room for that user
//     (hub.Message.Final).
//   - Messages without a seq, packet_done and react entries are deferred: they may wait a few ticks of the hub, to leave with
//     the next reply.
//   - Two things here wait for the store: Repair, and a Publisher that signals a change of a user's rooms. The Publisher reads
//     the user's standing first. waitBudget limits how long these reads may wait while the store is slow.
//
// The package starts no goroutine. Encoder is safe for concurrent use: the hub calls it under the locks of topics.
package push
