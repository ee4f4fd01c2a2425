// Package api answers all commands of users except those for administrators. It knows no socket and no HTTP: both call the same
// functions with a Caller and a Request.
//
// It owns:
//
//   - Commands, whose methods are the commands, and the table of them (api.go).
//   - Request, which is a command as it came: its data is decoded at most once, by the first function that needs it.
//   - Rates, which keep users within the rates and budgets of web/docs/protocol/limits.md. Each connection has a rate of its
//     own, too: see package session.
//   - Hooks, the questions to the host before a command (hooks.go). Package hook asks them.
//   - The limit of the instance on commands that read very many rows (scans.go). Commands.Begin waits until such a command may
//     run.
//
// It must always hold:
//
//   - A command does what the services do, no more: the package decides nothing about rooms or money.
//   - A request over its rate or budget is refused with that error, whatever its data is, and costs the services nothing. Three
//     limits are checked later: contact rates and the cost of a packet's shares once the data is decoded, and the rate of grabs
//     that all instances share once the packet was looked up.
//   - A grab of a packet that has ended is answered without waiting for a store, a pool or another instance, if the end and the
//     user's membership are in memory (FromMemory).
//   - Errors are those of chat and redpacket, besides ErrUnknownCommand and ErrDenied, with which the host refuses. What
//     clients see of them is for package web to say.
//
// The package starts no goroutine. Its types are safe for concurrent use, except Request.
package api
