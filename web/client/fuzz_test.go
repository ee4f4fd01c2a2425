package client

import (
	"encoding/json"
	"testing"

	"hongbao/web/client/internal/feed"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// FuzzEvents gives the client random pushes. None may cause a panic or be lost; an unknown one must be returned
// unchanged.
func FuzzEvents(f *testing.F) {
	for _, kind := range []string{"text", "packet", "packet_done", "member", "edit", "recall", "react", "room", "poll"} {
		f.Add([]byte(`{"seq":1,"id":"i","at":5,"from":{"id":"u","name":"n"},"kind":"` + kind + `","body":{"text":"t","target":1,"state":{"mine":{}},"until":3}}`))
	}
	for _, name := range []string{"typing", "presence", "read", "packet_progress", "wallet", "members", "left", "contacts", "room_prefs", "applause"} {
		f.Add([]byte(`{"` + name + `":{"room":"r","user":"u","seq":1,"balance":1,"outcome":"won"}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := model.PublicationOf("r", 7, data, map[string]model.State{"": {}})
		if e.Seq != 7 || e.Room != "r" || e.Body == nil {
			t.Errorf("%+v", e)
		}
		if other, ok := e.Body.(model.Other); ok && len(other.Raw) == 0 && json.Valid(data) && len(data) > 0 {
			var w wire.Entry
			if json.Unmarshal(data, &w) != nil || len(w.Body) > 0 {
				t.Errorf("lost: %s", data)
			}
		}
		c := &Client{rooms: map[string]*model.MyRoom{"r": {}}, feed: feed.New(1, 0), changed: make(chan struct{})}
		applyToRoom(c.rooms["r"], e.Body, "u")
		var m wire.Message
		if err := json.Unmarshal(data, &m); err != nil {
			m = wire.Message{}
		}
		event := model.EventOf(m, data)
		c.applyLocked(&event)
		if other, ok := event.(model.OtherEvent); ok && len(other.Raw) != len(data) {
			t.Errorf("lost: %s", data)
		}
	})
}
