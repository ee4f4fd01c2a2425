package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// nativeCommands: what the envelope has for rooms of other kinds is refused, and the connection stays.
func (s *stage) nativeCommands() {
	room, outside := wire.RoomChannel(s.room("ann", "public")), wire.RoomChannel(s.room("bob", "public"))
	ann := s.connected("ann")
	ann.mustShow("subscribe", ann.native("subscribe", room), wire.CodeAlreadySubscribed)
	ann.mustShow("subscribe elsewhere", ann.native("subscribe", outside), wire.CodeNotAvailable)
	for _, command := range []string{"publish", "presence", "presence_stats", "history"} {
		ann.mustShow(command, ann.native(command, room), wire.CodeNotAvailable)
	}
	ann.must("wallet", wire.WalletRequest{})
	if up := ann.times("up"); up != 1 {
		s.t.Errorf("connected %d times: %s", up, ann.tail())
	}
}

// tooManyCommands: who asks too much is told when to ask again, and who does not listen is hung up on.
func (s *stage) tooManyCommands() {
	ann := s.connected("ann")
	const refusals = 200
	refused := 0
	for _, err := range ann.flood("wallet", "{}", refusals) {
		var refusal wire.Error
		if errors.As(err, &refusal) {
			ann.mustShow("one command more", refusal, wire.CodeRateLimited)
			refused++
		}
	}
	if refused < refusals-1 { // the last one may be answered by the end alone
		s.t.Errorf("%d commands were refused", refused)
	}
	ann.awaits(1, "again", wire.CloseTooManyCommands)
	ann.awaits(2, "up")
}

// bytes: whatever may be said arrives as it was said.
func (s *stage) bytes() {
	room := s.room("ann", "public", "bob")
	ann, bob := s.connected("ann"), s.connected("bob")
	said := []string{"🧧 恭喜发财", "line\u2028paragraph\u2029end", "tab\tquote\"back\\slash/<b>&amp;\x01\x7f", "e\u0301 \U0010ffff \ufeff", strings.Repeat("🧧", 4000)}
	for i, text := range said {
		data := json.RawMessage(fmt.Sprintf(`{"text":%s,"large":9007199254740991}`, jsonText(text[:min(len(text), 400)])))
		ann.must("send", wire.SendRequest{Room: room, Key: s.key(), Text: text, Data: data})
		bob.awaits(1, "entry", room, i+1)
		var body wire.TextBody
		check(s.t, json.Unmarshal(bob.newest(room).Body, &body))
		if body.Text != text || !sameValue(s.t, body.Data, data) {
			s.t.Errorf("said %.100q %s, heard %.100q %s", text, data, body.Text, body.Data)
		}
	}
	ann.mustBeRefused("send", wire.SendRequest{Room: room, Key: s.key(), Text: "nul\x00"}, wire.CodeBadRequest)
	ann.must("wallet", map[string]string{"unknown": strings.Repeat("x", wire.FrameBytes-1000)})

	const most = 1<<53 - 1
	s.post("root", "admin/credit", wire.AdjustRequest{User: "ann", Amount: most, Key: "rich"}, nil)
	ann.awaits(1, "wallet")
	if got := replyOf[wire.WalletReply](ann, "wallet", wire.WalletRequest{}).Balance; got != most {
		s.t.Errorf("the balance is %d, want %d", got, int64(most))
	}
	bob.mustBeExact(room)
}

// sameValue compares JSON by what it says. Of centrifuge-js with JSON that is all there is to compare: it takes and gives
// values, and writes them in its own way.
func sameValue(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var values [2]any
	for i, text := range []json.RawMessage{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		check(t, d.Decode(&values[i]))
	}
	return reflect.DeepEqual(values[0], values[1])
}
