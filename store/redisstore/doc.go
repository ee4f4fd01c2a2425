// Package redisstore opens what the instances share in Redis: the Pool that decides grabs, the Bus between the
// instances, presence, rate limits and the notes of newest commits (redpacket.Pool, hub.Bus, chat.Presence, chat.Limiter,
// lineage.Notes). Redis is standalone, behind sentinels, or a cluster.
//
// Its parts are packages of their own, and each names there what must always hold:
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
//   - Grabs, the bus and everything else have connections of their own, so that none delays another.
//   - No script of the Pool runs on a node before the node was found fit. Until then its calls are refused, so a store
//     opens while Redis cannot be reached.
//   - The script of the limiter is the only one that must not be repeated, because each run takes tokens.
//   - Every key of rates expires by itself.
package redisstore
