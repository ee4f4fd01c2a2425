// Package server is the server API: the requests that the back end of a host may send, on a listener of its own. Package
// events adds the routes of the event stream.
//
// Package server imports neither a store nor package api. The program gives it what it needs behind interfaces: Acts stores the
// acts, and Config.Web carries out commands for a user, without rates and hooks. It also closes and refreshes sockets.
//
// Package server owns keys, scopes, limits per key, and the way from a request to a function of the domain. It must always hold:
//
//   - Without a key that is in the keys file, a caller learns nothing but that the key is wrong.
//   - A request that changes something is handed to Acts before it is carried out. If that fails, it is not carried out.
//   - A caller that sends too many requests, or too many that wait, slows only the callers with a key of the same name: the
//     rate of requests and the number of running requests are bounded for each name.
//   - The idempotency keys of different API keys are separate. A key that replaces another one has the same name, and shares its
//     idempotency keys.
//
// Keys.Run is the only goroutine of the package. It reads the keys file every 2 s and uses the new keys when the file has
// changed.
package server
