package main

import (
	"encoding/json"
	"slices"

	"hongbao/web/wire"
)

// person is somebody with a client.
type person struct {
	socket
	*diary
}

// must makes a command by socket that has to succeed, and gives the reply.
func (p *person) must(method string, request any) []byte {
	p.t.Helper()
	reply, err := p.call(method, jsonText(request))
	if err != nil {
		p.t.Fatalf("%s: %s %.200s: %v", p.name, method, jsonText(request), err)
	}
	return reply
}

// replyOf is must, with the reply read.
func replyOf[Reply any](p *person, method string, request any) (reply Reply) {
	p.t.Helper()
	check(p.t, json.Unmarshal(p.must(method, request), &reply))
	return reply
}

// mustBeExact waits for a room's last entry, reads what the SDK could not bring, and compares all of it with the room:
// every entry from the first one that was heard.
func (p *person) mustBeExact(room string) {
	p.t.Helper()
	history := p.history(room, 0, 1<<40)
	p.awaits(1, "entry", room, len(history))
	p.mu.Lock()
	heard, gaps, wrong := slices.Clone(p.entries[room]), slices.Clone(p.missed), p.wrong
	p.mu.Unlock()
	for _, w := range wrong {
		p.t.Errorf("%s: %s", p.name, w)
	}
	for _, gap := range gaps {
		if gap.channel == room {
			heard = append(heard, p.history(room, int64(gap.after), int64(gap.through))...)
		}
	}
	slices.SortStableFunc(heard, bySeq)
	mustBeLast(p.t, p.name, heard, history)
}

func (p *person) history(room string, after, through int64) []wire.Entry {
	p.t.Helper()
	return pagesOf(after, through, func(after int64) wire.HistoryReply {
		return replyOf[wire.HistoryReply](p, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100})
	})
}
