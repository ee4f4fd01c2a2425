package main

import (
	"strings"
	"sync"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// salon is a server, a browser, and the people who come in by it. They are real pages, and what they do is clicked and typed.
// TestBrowser… tests are run without the race detector.
type salon struct {
	t       *testing.T
	node    *node
	browser *webtest.Chromium
	page    string // where people go
}

func newSalon(t *testing.T, variables ...string) *salon {
	t.Helper()
	n := start(t, build(t, ""), t.TempDir(), freeAddress(t), variables...)
	return &salon{t: t, node: n, browser: webtest.Browser(t), page: n.url.String()}
}

// restarts starts the server again where it was.
func (s *salon) restarts() {
	s.t.Helper()
	s.node = start(s.t, s.node.binary, s.node.dir, s.node.url.Host, s.node.variables...)
}

// comes is somebody new, who comes in as a guest.
func (s *salon) comes(name string, screen webtest.Screen) *visitor {
	s.t.Helper()
	v := s.visits(screen)
	v.comesInAs(name)
	return v
}

// visits is somebody before the door.
func (s *salon) visits(screen webtest.Screen) *visitor {
	s.t.Helper()
	return &visitor{Visitor: s.browser.Visit(s.t, s.page, screen), salon: s, words: wordsOf(screen)}
}

// crowd are people who come in all together, and into the room.
func (s *salon) crowd(room string, screen webtest.Screen, names ...string) []*visitor {
	s.t.Helper()
	people := make([]*visitor, len(names))
	for i := range names {
		people[i] = s.visits(screen)
	}
	together(people, func(i int, v *visitor) {
		v.comesInAs(names[i])
		v.joins(room)
	})
	return people
}

// together has everybody do something at the same time.
func together(people []*visitor, do func(i int, v *visitor)) {
	var all sync.WaitGroup
	for i, v := range people {
		all.Go(func() { do(i, v) })
	}
	all.Wait()
}

// afar is somebody whose page nobody needs to see.
type afar struct {
	salon *salon
	wire.GuestReply
}

func (s *salon) afar(name string) *afar {
	s.t.Helper()
	return &afar{s, s.node.guest(name)}
}

// does a command, and gives what comes of it.
func does[Reply any](a *afar, method string, request any) Reply {
	a.salon.t.Helper()
	return mustDo[Reply](a.salon, a.Token, method, request)
}

func (a *afar) joins(room string) {
	a.salon.t.Helper()
	does[wire.JoinReply](a, "join", wire.JoinRequest{Room: room})
}

func (a *afar) says(room, text string) wire.SendReply {
	a.salon.t.Helper()
	return does[wire.SendReply](a, "send", wire.SendRequest{Room: room, Key: newKey(), Text: text})
}

// wordsOf are the first words of the page in a language, by which one comes in.
func wordsOf(screen webtest.Screen) doorWords {
	if strings.HasPrefix(screen.Language, "zh") {
		return doorWords{name: "怎么称呼你？", join: "加入", write: "消息"}
	}
	return doorWords{name: "What may we call you?", join: "Join", write: "Message"}
}

type doorWords struct{ name, join, write string }
