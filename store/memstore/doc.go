// Package memstore keeps the arbiter of grabs, rates and presence in this process's memory: what an installation
// without Redis runs on, and the executable specification of the engines that do use one. So is its bus, which joins
// several hubs of one process: tests of many instances run on it, for an installation without Redis has but one hub.
// Every sentence of the contracts holds here literally, and storetest asks the same of each other engine.
//
// It must always hold, for the Pool:
//
//   - No user has two shares of a packet, and no share has two users.
//   - A share is given lowest free first; cost and memory follow the grants, not the packet's count.
//   - Closed stays closed, with the first reason; retired stays out of the due index.
//   - A grant stands in the outbox from the moment it is given until it is acked, whatever happens to
//     its packet's image.
//   - Memory is bounded by what is open, what was retired within RetiredFor, and the outbox's cap.
//
// Nothing here survives the process: the Ledger is the truth, and Load brings it back. The Pool has no
// goroutines. Each of its partitions has one lock; no two are ever held together and nothing is waited for
// under one.
package memstore
