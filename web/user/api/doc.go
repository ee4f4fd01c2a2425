// Package api answers all commands of users except those for administrators. It knows no socket and no HTTP: both call the same
// functions with a Caller and a Request.
//
// It owns:
//
//   - Commands, whose methods are the commands, and the table of them (api.go).
//   - Request, which is a command as it came: its data is decoded at most once, by the first function that needs it.
//   - Rates, which keep users and addresses within the rates and budgets of web/docs/protocol/limits.md. Each connection has a
//     rate of its own, too: see package session.
//   - Hooks, the questions to the host before a command (hooks.go). Package hook asks them.
//   - The limit on commands that read very many rows (scans.go). There are two Commands, one for users and one for the host, each with a limit
//     of its own. Commands.Begin waits until
//     such a command may run.
//
// It must always hold:
//
//   - The services decide about rooms and money. The package adds rates, budgets and the host's verdict.
//   - A request over its rate or budget is refused with a *chat.RateError, whatever its data is, and makes no call of a store or
//     pool. Four limits are checked later: contact rates and the cost of a packet's shares once the data is decoded, the cost of a leave once
//     the standing was read, and the rate of grabs that all instances share once the packet was looked up.
//   - A grab of a packet that has ended is answered without waiting for a store, a pool or another instance, if the end and the
//     user's standing in the room are in memory (FromMemory).
//   - Errors are ErrUnknownCommand, ErrDenied (the host refuses), those of chat and redpacket, and that of a context that has
//     ended. Package web decides what clients see of them.
//
// The package starts no goroutine. Its types are safe for concurrent use, except Request.
package api
