// Package web is the door: HTTP routes, tokens, socket sessions, the turning of domain values into wire
// values and back, and the one table of errors. It decides nothing about rooms or money.
//
// It must always hold:
//
//   - Nobody is believed without a good token, and a token cannot choose how it is checked.
//   - Commands of one connection start in the order sent, each after the ones before it were answered,
//     except those that may overlap.
//   - Nothing is sent on a connection before its connect reply; no publication of a room at or below the
//     position told for it comes after.
//   - An idle session costs no goroutine, timer, channel or map of its own: the hub reads its socket and
//     keeps its time.
//
// The hub needs to know how pushes look, the services need something to publish to, and the Server needs
// all of them, so a program is wired in this order:
//
//	store, err := sqlitestore.Open(ctx, dir, log)
//	pool, presence := memstore.NewPool(memstore.Options{}), memstore.NewDirectory().Presence()
//	repair := web.Repair{Store: store}
//	h := hub.New(hub.Options{Encode: web.NewEncoder().Encode, Ping: web.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: web.Revise})
//	pub := web.NewPublisher(h)
//	rooms := chat.New(store, pub, chat.Options{})
//	packets := redpacket.New(store, pool, rooms, pub, redpacket.Options{Tries: memstore.NewLimiter(memstore.LimiterOptions{})})
//	server, err := web.New(h, pub, rooms, packets, web.Options{JWT: web.JWT{Secret: secret}, Presence: presence, Alone: true})
//
// Then h.Run, packets.Run and server.Run are run, server.Handler() and server.OpsHandler() are
// served on their listeners, and at the end server.Drain is called before the listeners are shut down.
//
//	goroutine                     started by       ends when                    may block on
//	one per running command       session.advance  it and its heirs are done    the services
//	attendance, rechecks          Server.Run       ctx                          the presence, the services
//	keys of tokens                Server.Run       ctx                          a fetch
//	a fetch of these              jwks.fetch       5 s, or Server.Run does      the host's URL
//	a grab over HTTP              serveCommand     it is done                   the services
package web
