// Package redisstore opens what the instances share in Redis: the Pool that decides grabs, the Bus between the
// instances, presence, rate limits and the notes of newest commits (redpacket.Pool, hub.Bus, chat.Presence, chat.Limiter,
// lineage.Notes). Redis is standalone, behind sentinels, or a cluster.
//
// Its parts are packages. Each package comment lists the invariants of its part:
//
//	internal/nodes     connections, checks of the nodes, calls of Lua scripts
//	internal/pool      the Pool
//	internal/bus       the Bus
//	internal/presence  presence
//
// This package owns the clients, the rates and the notes.
//
// Invariants:
//
//   - The Pool, the bus and all other calls use separate connections, so that none delays another.
//   - No script of the Pool runs on a node before the node was found fit. Until then the Pool's script calls to that node
//     fail. So a store can be opened while Redis cannot be reached.
//   - The script of the limiter is the only one that must not be repeated, because each run takes tokens.
//   - Every key of the limiter expires by itself.
package redisstore
