// Package pg connects to Postgres and speaks to it. It owns the pool of connections, the breaker that makes calls fail at once while
// Postgres is out of reach, and the identity of the server that calls may use; and how statements are sent and results read on one
// connection: Reader, Message, Dialect, snapshots. It knows no table besides the names that the identity needs.
//
// Invariants:
//
//   - While Postgres is known to be out of reach, Acquire fails at once. Of the pool, only a probe then tries to connect.
//   - A call without an answer does not open the breaker by itself: a probe decides.
//   - No new connection of the pool leads to a server of another identity than the one that was passed to Serve.
//   - No error or log contains the password of a well-formed URL.
//   - No text can leave its place in a Message: what Message cannot write safely is not sent.
//
// The goroutines, besides those of pgx:
//
//	goroutine            started by         ends when                     may block on
//	breaker's probe      an opened breaker  it has connected, or Close    Postgres, bounded by the connect timeout
//	probe after Suspect  a slow call        one probe has ended           Postgres, bounded by the connect timeout
package pg
