package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

func namedRoom(id string, lastSeq int64) wire.MyRoom {
	return wire.MyRoom{Room: wire.Room{ID: id, Name: "room " + id, Kind: "public", LastSeq: lastSeq}}
}

// pagedServer returns a server whose connect reply has the room "r" alone. It answers each request for more rooms with a page that the test
// puts into pages; nil is no answer.
func pagedServer(t *testing.T, others ...wire.MyRoom) (s *scriptedServer, pages chan any) {
	pages = make(chan any)
	connect := wire.ConnectData{User: wire.User{ID: "ann"}, Rooms: []wire.MyRoom{namedRoom("r", 4)}, RoomsNext: "page 0"}
	s = newScriptedServer(t, connect, func(method string, _ json.RawMessage) any {
		if method != "rooms" {
			return wire.NewError(wire.CodeNotFound)
		}
		select {
		case page := <-pages:
			return page
		case <-time.After(20 * time.Second):
			return nil
		}
	})
	s.unlisted = others
	return s, pages
}

// happened returns what the next events say, in a few words each.
func happened(t *testing.T, c *client.Client, count int) (all []string) {
	t.Helper()
	for range count {
		event, err := c.Next(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case model.Connected:
			words := []string{fmt.Sprint("connected ", e.Again)}
			for _, r := range e.Rooms {
				words = append(words, fmt.Sprintf("%s:%d", r.Name, r.LastSeq))
			}
			all = append(all, strings.Join(words, " "))
		case model.Entered:
			all = append(all, fmt.Sprintf("entered %s:%d", e.Room.Name, e.Room.LastSeq))
		case model.Entry:
			all = append(all, fmt.Sprintf("entry %s:%d", e.Room, e.Seq))
		case model.Left:
			all = append(all, "left "+e.Room)
		default:
			all = append(all, fmt.Sprintf("%T", e))
		}
	}
	return all
}

func nothingHappens(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if e, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%T %+v, %v, want no event", e, e, err)
	}
	if _, err := c.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("ready: %v", err)
	}
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
}

// TestRoomsAreListedInPages connects with a reply that lacks most rooms. Nothing may be returned before all are known.
func TestRoomsAreListedInPages(t *testing.T) {
	a, b, gone := namedRoom("a", 7), namedRoom("b", 9), namedRoom("gone", 2)
	s, pages := pagedServer(t, a, b, gone)
	c := s.client()
	pages <- wire.RoomsReply{Rooms: []wire.MyRoom{a, gone}, Next: "page 1"}
	s.entry("a", 8, "text", wire.TextBody{Text: "8"})
	s.send(map[string]any{"push": map[string]any{"channel": "room:gone", "unsubscribe": map[string]any{"code": 2000, "reason": "left"}}})
	s.push(wire.Message{Members: &wire.MembersPush{Room: "a", Count: 3}})
	nothingHappens(t, c)
	pages <- wire.RoomsReply{Rooms: []wire.MyRoom{b}}
	got := happened(t, c, 4)
	want(t, got[:1], "connected false room r:4 room a:8 room b:9")
	slices.Sort(got[1:])
	want(t, got[1:], "entry a:8", "left gone", "model.MemberCount")
	if rooms := c.Rooms(); len(rooms) != 3 || s.asked[0] != `{"rooms":20}` {
		t.Errorf("%+v, asked for %s", rooms, s.asked)
	}
	must[model.Account](t)(c.Ready(soon(t)))
	s.entry("a", 9, "text", wire.TextBody{Text: "9"})
	want(t, happened(t, c, 1), "entry a:9")
}

// TestLostWhileRoomsAreListed loses the connection between the pages. The rooms must be listed again, and nothing may be returned twice.
func TestLostWhileRoomsAreListed(t *testing.T) {
	a := namedRoom("a", 7)
	s, pages := pagedServer(t, a)
	c := s.client()
	pages <- wire.RoomsReply{Rooms: []wire.MyRoom{a}, Next: "page 1"}
	s.entry("a", 8, "text", wire.TextBody{Text: "8"})
	nothingHappens(t, c)
	pages <- nil
	a.LastSeq = 8
	s.mu.Lock()
	s.unlisted = []wire.MyRoom{a, namedRoom("b", 1)}
	s.mu.Unlock()
	s.closeSocket(3001)
	pages <- wire.RoomsReply{Rooms: []wire.MyRoom{namedRoom("b", 1), a}}
	want(t, happened(t, c, 2), "connected false room r:4 room b:1 room a:8", "entry a:8")
}

// TestMovedWhileOfflineAndListed reconnects to a server that has other rooms of the user, and lists them in pages.
func TestMovedWhileOfflineAndListed(t *testing.T) {
	a, b, d := namedRoom("a", 7), namedRoom("b", 9), namedRoom("d", 3)
	s, pages := pagedServer(t, a, b)
	c := s.client()
	pages <- wire.RoomsReply{Rooms: []wire.MyRoom{a, b}}
	want(t, happened(t, c, 1), "connected false room r:4 room a:7 room b:9")
	s.mu.Lock()
	s.unlisted = []wire.MyRoom{a, d}
	s.mu.Unlock()
	s.closeSocket(3001)
	want(t, happened(t, c, 1), "model.Offline")
	d.LastSeq = 4
	for range 2 { // the SDK's client is replaced, because the user has left a room: see dial
		pages <- wire.RoomsReply{Rooms: []wire.MyRoom{a, d}}
	}
	got := happened(t, c, 3)
	slices.Sort(got)
	want(t, got, "connected true room r:4 room a:7 room d:4", "entered room d:3", "left b")
	if rooms := c.Rooms(); len(rooms) != 3 {
		t.Errorf("%+v", rooms)
	}
}
