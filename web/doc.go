// Package web serves HTTP and sockets to users: routes and the table of errors. The packages below it do the work, for three audiences:
//
//   - user: what users and their clients call. session: the life of a socket. api: the commands, without a socket; HTTP and sockets
//     call the same functions. auth: tokens. guest: users without an account of the host. presence: which sockets open and close,
//     and which users are online. push: turns events of the domain into messages of the hub, and back. webpush: notifications to
//     browsers of users without a socket; it is a Publisher in front of push. admission: bounds on sockets and on replies over HTTP.
//   - host: what the product that embeds hongbao calls and is asked. server: the server API, on a listener of its own. hostapi: its
//     payloads. events: the event stream, by routes of server and by webhook. hook: questions to the host before commands; it
//     implements an interface of user/api. hostcall: signed requests to the host.
//   - ops: what the operator reads, on a listener of its own. metrics: what /metrics shows. traces: spans for a collector.
//
// Beside them:
//
//   - page: the browser client and the JavaScript SDK. bundle makes its files.
//   - wire: payloads, frames and error codes, as clients see them. convert: turns values of the domain into payloads.
//   - spec: the generated OpenAPI and AsyncAPI documents. client: the SDK for Go programs. docs: the pages.
//   - dial: connections to public addresses, and to hosts that the operator allows. webtest: a browser for tests.
//
// The diagram shows the packages that a command passes through, without hub, chat and redpacket. An arrow means: may import. An import may
// skip a step. cmd/hongbao/arch_test.go lists all imports.
//
//	web ──► user/session ──► user/api ──► convert ──► wire
//	             session ──► user/push ──► convert
//	             session ──► user/auth
//	web ──► user/guest ──► user/auth, convert
//	web ──► user/presence
//
// Package web decides nothing about rooms or money.
//
// It must always hold:
//
//   - Without a valid token a client can create a guest, or sign in the guest of a device code. It can read the page with its SDK and
//     page.Facts, the previews of an invite link and of a public room, the pictures of profiles, and the OpenAPI and AsyncAPI documents. It gets no more.
//   - Each error that a domain package exports has one code, in errorTable. An error that is not in the table is "internal" and
//     logged, unless it is a wire.Error, which has its own code.
//   - Administrators' commands (admin.go) are served over HTTP only, and the operator's endpoints on a listener of their own only.
//
// The hub needs the functions that encode pushes. The services need a publisher. The Server needs all of them. So a program
// creates them in this order:
//
//	store, err := sqlitestore.Open(ctx, dir, log)
//	pool, presence := memstore.NewPool(memstore.Options{}), memstore.NewDirectory().Presence()
//	repair := push.Repair{Store: store}
//	h := hub.New(hub.Options{Encode: push.NewEncoder().Encode, Decode: push.Decode, Ping: push.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: push.Revise})
//	pub := push.NewPublisher(h, chat.NewID(time.Now()))
//	rooms := chat.New(store, pub, chat.Options{Presence: presence})
//	packets := redpacket.New(store, pool, rooms, pub, redpacket.Options{GuessLimiter: memstore.NewLimiter(memstore.LimiterOptions{})})
//	server, err := web.New(h, pub, rooms, packets, web.Options{JWT: auth.JWT{Secret: secret}, Presence: presence, Alone: true})
//	h.SetPeers(server.Peers())
//	pub.CacheStandings(rooms)
//
// Then the program runs h.Run, packets.Run and server.Run, and serves server.Handler() and server.OpsHandler() on two
// listeners. At the end it calls server.Drain before it shuts the listeners down.
//
//	goroutine                started by     ends when         may block on
//	presence, see presence   Server.Run     its context ends  the directory
//	rechecks, see session    Server.Run     its context ends  the store
//	keys, see auth           Server.Run     its context ends  a fetch
//	a grab over HTTP         inTime         it is done        the services
package web
