// Package api answers the commands of members. It knows no socket and no HTTP: both call the same functions with a Caller and
// a Request.
//
// It owns:
//
//   - Commands, whose methods are the commands, and the table of them (table.go).
//   - Request, which is a command as it came: its data is decoded at most once, by the first function that needs it.
//   - Rates, which keep users within the rates of web/docs/protocol/limits.md. Each connection has a pace, too: see session.
//
// It must always hold:
//
//   - A command does what the services do, no more: the package decides nothing about rooms or money.
//   - A request over its rate is refused with that error, whatever its data is, and costs the services nothing. One request
//     differs: a grab is decoded and its packet looked up before it spends the rate that all instances share.
//   - A request that FromMemory has accepted is answered without waiting for a store, a pool or another instance.
//   - Errors are those of chat and redpacket, besides ErrUnknownCommand. What clients see of them is for package web to say.
//
// The package starts no goroutine. Its types are safe for concurrent use, except Request.
package api
