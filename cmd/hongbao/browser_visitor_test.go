package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"hongbao/web/webtest"
)

// visitor is a person before the page.
type visitor struct {
	*webtest.Visitor

	salon *salon
	words doorWords
}

func (v *visitor) comesInAs(name string) {
	v.salon.t.Helper()
	v.Fill(v.words.name, name)
	v.Key("\r")
	v.Has("button", name)
}

// makesRoom makes a room and is in it.
func (v *visitor) makesRoom(name string) (room string) {
	v.salon.t.Helper()
	v.Press("button", "New room")
	v.Fill("Name", name)
	v.Press("button", "Make the room")
	v.Has("heading", name)
	return v.room()
}

// room is the one that is looked at.
func (v *visitor) room() string {
	v.salon.t.Helper()
	return webtest.Ask[string](v.Tab, `decodeURIComponent(location.hash.split('/')[2] ?? '')`)
}

// joins comes into a room by its link.
func (v *visitor) joins(room string) {
	v.salon.t.Helper()
	v.goes("#/room/" + room)
	v.Press("button", v.words.join)
	v.Has("textbox", v.words.write)
}

// goes to a place of the page, by its address.
func (v *visitor) goes(hash string) {
	v.salon.t.Helper()
	webtest.Ask[string](v.Tab, fmt.Sprintf(`location.hash = %q`, hash))
}

func (v *visitor) says(text string) {
	v.salon.t.Helper()
	v.Fill(v.words.write, text)
	v.Key("\r")
}

// packet is what is filled in.
type packet struct{ total, count, greeting string }

func (v *visitor) sends(p packet) {
	v.salon.t.Helper()
	v.Press("button", "Send a red packet")
	v.Fill("Total", p.total)
	v.Fill("How many shares", p.count)
	v.Fill("Greeting", p.greeting)
	v.Press("button", "Send ¥")
	v.Lacks("dialog", "")
}

// takesUp brings an envelope before one's eyes, closed.
func (v *visitor) takesUp(greeting string) {
	v.salon.t.Helper()
	v.Press("button", greeting)
	v.Has("button", "Open")
}

// taps the coin, and tells what has come of it; 0: others were faster.
func (v *visitor) taps() (won int64) {
	v.salon.t.Helper()
	v.Press("button", "Open")
	v.Has("button", "See who got what")
	if strings.Contains(v.Text(), "Others were faster") {
		return 0
	}
	v.Sees("in your wallet")
	v.Press("button", "See who got what")
	v.Misses("See who got what")
	return cents(webtest.Ask[string](v.Tab, `document.querySelector('.packet-mine .amount').textContent`))
}

func (v *visitor) opens(greeting string) (won int64) {
	v.salon.t.Helper()
	v.takesUp(greeting)
	return v.taps()
}

// balance is what the page says of the wallet.
func (v *visitor) balance() int64 {
	v.salon.t.Helper()
	return cents(v.Has("button", "Wallet, ¥"))
}

var amounts = regexp.MustCompile(`¥([\d,]+)\.(\d\d)`)

// cents of the first amount in a text; -1: there is none.
func cents(text string) int64 {
	found := amounts.FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", "")+found[2], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// token is that of the guest whom the browser remembers.
func (v *visitor) token() string {
	v.salon.t.Helper()
	return webtest.Ask[string](v.Tab, `localStorage.getItem('hongbao-guest')`)
}

// id is by which others know who it is.
func (v *visitor) id() string {
	v.salon.t.Helper()
	return webtest.Ask[string](v.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).sub`)
}

// mustDo has the bearer of a token do a command over HTTP.
func mustDo[Reply any](s *salon, token, method string, request any) (reply Reply) {
	s.t.Helper()
	status, answer, err := s.node.post(token, "commands/"+method, request)
	if err == nil {
		err = json.Unmarshal(answer, &reply)
	}
	if err != nil || status != 200 {
		s.t.Fatalf("%s %s: %d %s %v", method, jsonText(request), status, answer, err)
	}
	return reply
}

func newKey() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// rawReply is a reply as it was written.
type rawReply = json.RawMessage
