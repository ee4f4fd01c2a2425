package browser

import (
	"strings"
	"sync"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// fixture is a server, and a browser in which users open its page.
type fixture struct {
	t       *testing.T
	server  *e2e.Server
	browser *webtest.Chromium
	page    string // address of the page
}

func newFixture(t *testing.T, variables ...string) *fixture {
	t.Helper()
	s := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t), variables...)
	return &fixture{t: t, server: s, browser: webtest.Browser(t), page: s.URL.String()}
}

// newUser opens the page as a new user and signs in as a guest.
func (f *fixture) newUser(name string, screen webtest.Screen) *browserUser {
	f.t.Helper()
	u := f.openPage(screen)
	u.signInAs(name)
	return u
}

// openPage opens the page as a new user that is not signed in.
func (f *fixture) openPage(screen webtest.Screen) *browserUser {
	f.t.Helper()
	return &browserUser{Visitor: f.browser.Visit(f.t, f.page, screen), fixture: f, words: wordsOf(screen)}
}

// newUsers opens a page for each name; all sign in and join the room at once.
func (f *fixture) newUsers(room string, screen webtest.Screen, names ...string) []*browserUser {
	f.t.Helper()
	users := make([]*browserUser, len(names))
	for i := range names {
		users[i] = f.openPage(screen)
	}
	atOnce(users, func(i int, u *browserUser) {
		u.signInAs(names[i])
		u.join(room)
	})
	return users
}

// atOnce lets all users do something at the same time, and waits until all have.
func atOnce(users []*browserUser, do func(i int, u *browserUser)) {
	var all sync.WaitGroup
	for i, u := range users {
		all.Go(func() { do(i, u) })
	}
	all.Wait()
}

// apiUser is a user without a page. It sends commands over HTTP.
type apiUser struct {
	fixture *fixture
	wire.GuestReply
}

func (f *fixture) newAPIUser(name string) *apiUser {
	f.t.Helper()
	return &apiUser{f, f.server.Guest(name)}
}

// command sends a command that must succeed, and returns the reply.
func command[Reply any](a *apiUser, method string, request any) Reply {
	a.fixture.t.Helper()
	return commandAs[Reply](a.fixture, a.Token, method, request)
}

func (a *apiUser) join(room string) {
	a.fixture.t.Helper()
	command[wire.JoinReply](a, "join", wire.JoinRequest{Room: room})
}

func (a *apiUser) say(room, text string) wire.SendReply {
	a.fixture.t.Helper()
	return command[wire.SendReply](a, "send", wire.SendRequest{Room: room, Key: newKey(), Text: text})
}

// wordsOf returns the words of the page that sign-in needs, in the screen's language.
func wordsOf(screen webtest.Screen) pageWords {
	if strings.HasPrefix(screen.Language, "zh") {
		return pageWords{name: "怎么称呼你？", join: "加入", write: "消息"}
	}
	return pageWords{name: "What may we call you?", join: "Join", write: "Message"}
}

type pageWords struct{ name, join, write string }
