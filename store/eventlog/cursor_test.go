package eventlog_test

import (
	"encoding/base64"
	"reflect"
	"slices"
	"testing"

	"hongbao/store/eventlog"
)

// FuzzCursor parses texts of clients. A text that is accepted is a cursor that comes back from its own text.
func FuzzCursor(f *testing.F) {
	c := eventlog.Cursor{Epoch: "E", Read: map[int64]int64{3: 90, 5: 100}}
	f.Add(c.String())
	c.Chain, c.ID, c.N = 5, 101, 2
	f.Add(c.String())
	f.Add(eventlog.Begin("E", 17).String())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := eventlog.ParseCursor(text)
		if err != nil {
			return
		}
		again, err := eventlog.ParseCursor(c.String())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v comes back as %+v, %v", c, again, err)
		}
	})
}

// TestForgedCursorIsRefused changes valid cursors into ones that the server never gives.
func TestForgedCursorIsRefused(t *testing.T) {
	valid, err := base64.RawURLEncoding.DecodeString(eventlog.Cursor{Epoch: "E", Read: map[int64]int64{3: 90}}.String())
	if err != nil {
		t.Fatal(err)
	}
	twice := slices.Concat(valid, valid[len(valid)-2:]) // the position of the only chain once more
	noEpoch := eventlog.Cursor{Read: map[int64]int64{3: 90}}.String()
	for name, text := range map[string]string{"a chain twice": base64.RawURLEncoding.EncodeToString(twice), "no epoch": noEpoch} {
		if c, err := eventlog.ParseCursor(text); err == nil {
			t.Errorf("%s: %+v was accepted", name, c)
		}
	}
}
