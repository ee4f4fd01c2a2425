package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/web"
	"hongbao/web/wire"
)

const sdkSecret = "a secret of the scenarios, of no use elsewhere"

// stage is where a scenario is played: a server of its own, and the door that clients come through.
type stage struct {
	t         *testing.T
	sdk       sdk
	variables []string // of the server
	dir       string
	node      *node
	door      *door
	keys      atomic.Int64 // handed out
}

func newStage(t *testing.T, sdk sdk, variables ...string) *stage {
	t.Helper()
	s := &stage{t: t, sdk: sdk, variables: append(variables, "HONGBAO_JWT_SECRET="+sdkSecret), dir: t.TempDir(), door: openDoor(t)}
	s.door.facade = &node{t: t, url: s.door.url()}
	s.serve()
	s.sdk.ready()
	return s
}

// serve starts the server, and opens the door to it.
func (s *stage) serve() {
	s.t.Helper()
	s.node = start(s.t, build(s.t, ""), s.dir, "127.0.0.1:0", s.variables...)
	s.door.only(s.node)
}

// away keeps everybody out, and cuts those who are in.
func (s *stage) away() {
	s.door.lead()
	s.door.cut(1)
}

// back lets everybody in again.
func (s *stage) back() { s.door.only(s.node) }

func (s *stage) token(user string, ttl time.Duration) string {
	return s.mint(web.Claims{User: user}, ttl)
}

func (s *stage) mint(c web.Claims, ttl time.Duration) string {
	s.t.Helper()
	token, err := web.MintToken([]byte(sdkSecret), c, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// open lets somebody connect, through the door unless he goes elsewhere.
func (s *stage) open(user string, o opening) *person {
	s.t.Helper()
	if o.at == nil {
		o.at = s.door.facade
	}
	if o.token == "" {
		o.token = s.token(user, time.Hour)
	}
	d := newDiary(s.t, user)
	return &person{s.sdk.open(o, d), d}
}

// connected is open for one who is let in.
func (s *stage) connected(user string) *person {
	s.t.Helper()
	p := s.open(user, opening{})
	p.awaits(1, "up")
	return p
}

// post makes a command over HTTP, as somebody who needs no client for it.
func (s *stage) post(user, path string, request, reply any) {
	s.t.Helper()
	status, answer, err := s.node.post(s.mint(web.Claims{User: user, Scope: "admin"}, time.Hour), path, request)
	check(s.t, err)
	if status != http.StatusOK {
		s.t.Fatalf("%s: %s: %s", user, path, answer)
	}
	if reply != nil {
		check(s.t, json.Unmarshal(answer, reply))
	}
}

func (s *stage) command(user, method string, request any) {
	s.t.Helper()
	s.post(user, "commands/"+method, request, nil)
}

// room makes a room of a user's with others in it, and gives its id.
func (s *stage) room(owner, kind string, members ...string) string {
	s.t.Helper()
	for _, m := range append([]string{owner}, members...) {
		s.command(m, "wallet", wire.WalletRequest{}) // from now on one knows him
	}
	var made wire.CreateRoomReply
	s.post(owner, "commands/create_room", wire.CreateRoomRequest{Key: s.key(), Name: "hall", Kind: kind, Members: members}, &made)
	return made.Room.ID
}

// key is one that nobody has used.
func (s *stage) key() string { return fmt.Sprint("key-", s.keys.Add(1)) }

// shows tells whether the server's metrics have a line.
func (n *node) shows(line string) bool {
	n.t.Helper()
	response, err := http.Get(n.ops + "metrics")
	check(n.t, err)
	defer func() { _ = response.Body.Close() }()
	all, err := io.ReadAll(response.Body)
	check(n.t, err)
	return bytes.Contains(all, []byte("\n"+line+"\n"))
}

// say has a user say so many things.
func (s *stage) say(user, room string, texts ...string) (seq int64) {
	s.t.Helper()
	for _, text := range texts {
		var said wire.SendReply
		s.post(user, "commands/send", wire.SendRequest{Room: room, Key: s.key(), Text: text}, &said)
		seq = said.Seq
	}
	return seq
}
