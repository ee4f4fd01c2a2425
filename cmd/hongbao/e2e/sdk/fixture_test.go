package sdk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

const secret = "a secret of the scenarios, of no use elsewhere"

// fixture is the server of one scenario, and the balancer through which its clients connect.
type fixture struct {
	t         *testing.T
	sdk       sdk
	variables []string // of the server
	dir       string
	server    *e2e.Server
	balancer  *e2e.Balancer
	keys      atomic.Int64 // given out so far
}

func newFixture(t *testing.T, sdk sdk, variables ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, sdk: sdk, variables: append(variables, "HONGBAO_JWT_SECRET="+secret), dir: t.TempDir(), balancer: e2e.StartBalancer(t)}
	f.start()
	f.sdk.prepare()
	return f
}

// start starts the server, and lets clients connect to it.
func (f *fixture) start() {
	f.t.Helper()
	f.server = e2e.Start(f.t, e2e.Build(f.t, ""), f.dir, "127.0.0.1:0", f.variables...)
	f.balancer.Only(f.server)
}

// cutOff closes all connections and refuses new ones.
func (f *fixture) cutOff() {
	f.balancer.OnlyTo()
	f.balancer.Cut(1)
}

// restore lets clients connect again.
func (f *fixture) restore() { f.balancer.Only(f.server) }

func (f *fixture) token(user string, ttl time.Duration) string {
	return f.mint(auth.Claims{User: user}, ttl)
}

func (f *fixture) mint(c auth.Claims, ttl time.Duration) string {
	f.t.Helper()
	token, err := auth.Sign([]byte(secret), c, ttl)
	e2e.NoError(f.t, err)
	return token
}

// open starts to connect a user, through the balancer unless the options name a server.
func (f *fixture) open(name string, o options) *user {
	f.t.Helper()
	if o.server == nil {
		o.server = f.balancer.Front
	}
	if o.token == "" {
		o.token = f.token(name, time.Hour)
	}
	log := newEventLog(f.t, name)
	return &user{f.sdk.open(o, log), log}
}

// connect opens a user and waits until it is connected.
func (f *fixture) connect(name string) *user {
	f.t.Helper()
	u := f.open(name, options{})
	u.await(1, "connected")
	return u
}

// post sends a request over HTTP for a user that needs no client of the SDK.
func (f *fixture) post(user, path string, request, reply any) {
	f.t.Helper()
	status, answer, err := f.server.Post(f.mint(auth.Claims{User: user, Scope: auth.DefaultAdminScope}, time.Hour), path, request)
	e2e.NoError(f.t, err)
	if status != http.StatusOK {
		f.t.Fatalf("POST %s as %s: status %d: %s, want 200", path, user, status, answer)
	}
	if reply != nil {
		e2e.NoError(f.t, json.Unmarshal(answer, reply))
	}
}

func (f *fixture) command(user, method string, request any) {
	f.t.Helper()
	f.post(user, "commands/"+method, request, nil)
}

// room creates a room with members, and returns its id.
func (f *fixture) room(owner, kind string, members ...string) string {
	f.t.Helper()
	for _, m := range append([]string{owner}, members...) {
		f.command(m, "wallet", wire.WalletRequest{}) // makes the user known
	}
	var created wire.CreateRoomReply
	f.post(owner, "commands/create_room", wire.CreateRoomRequest{Key: f.key(), Name: "room", Kind: kind, Members: members}, &created)
	return created.Room.ID
}

// key returns a key that was not used before.
func (f *fixture) key() string { return fmt.Sprint("key-", f.keys.Add(1)) }

// say sends texts as a user, and returns the seq of the last.
func (f *fixture) say(user, room string, texts ...string) (seq int64) {
	f.t.Helper()
	for _, text := range texts {
		var sent wire.SendReply
		f.post(user, "commands/send", wire.SendRequest{Room: room, Key: f.key(), Text: text}, &sent)
		seq = sent.Seq
	}
	return seq
}
