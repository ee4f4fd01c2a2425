package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// nativeCommands: a client sends commands of the protocol's envelope that rooms do not need. They must be refused, and
// the connection must stay.
func (f *fixture) nativeCommands() {
	room, other := wire.RoomChannel(f.room("ann", "public")), wire.RoomChannel(f.room("bob", "public"))
	ann := f.connect("ann")
	ann.mustShow("subscribe", ann.native("subscribe", room), wire.CodeAlreadySubscribed)
	ann.mustShow("subscribe to another room", ann.native("subscribe", other), wire.CodeNotAvailable)
	for _, command := range []string{"publish", "presence", "presence_stats", "history"} {
		ann.mustShow(command, ann.native(command, room), wire.CodeNotAvailable)
	}
	ann.must("wallet", wire.WalletRequest{})
	ann.mustBeConnectedOnce()
}

// tooManyCommands: a client sends more commands than its rate allows. It must be refused with the time to wait. If it
// goes on, the server must close the connection.
func (f *fixture) tooManyCommands() {
	ann := f.connect("ann")
	const refusals = 200
	refused := 0
	for _, err := range ann.flood("wallet", "{}", refusals) {
		var refusal wire.Error
		if errors.As(err, &refusal) {
			ann.mustShow("a command over the rate", refusal, wire.CodeRateLimited)
			refused++
		}
	}
	if refused < refusals-1 { // the last refusal may be lost with the connection
		f.t.Errorf("%d commands were refused, want at least %d", refused, refusals-1)
	}
	ann.await(1, "reconnecting", wire.CloseTooManyCommands)
	ann.await(2, "connected")
}

// allKindsOfBytes: texts and data with unusual characters are sent. Those that are allowed must arrive unchanged.
func (f *fixture) allKindsOfBytes() {
	room := f.room("ann", "public", "bob")
	ann, bob := f.connect("ann"), f.connect("bob")
	sent := []string{"🧧 恭喜发财", "line\u2028paragraph\u2029end", "tab\tquote\"back\\slash/<b>&amp;\x01\x7f", "e\u0301 \U0010ffff \ufeff", strings.Repeat("🧧", 4000)}
	for i, text := range sent {
		data := json.RawMessage(fmt.Sprintf(`{"text":%s,"large":9007199254740991}`, e2e.JSON(text[:min(len(text), 400)])))
		ann.must("send", wire.SendRequest{Room: room, Key: f.key(), Text: text, Data: data})
		bob.await(1, "entry", room, i+1)
		var body wire.TextBody
		e2e.NoError(f.t, json.Unmarshal(bob.newest(room).Body, &body))
		if body.Text != text || !sameValue(f.t, body.Data, data) {
			f.t.Errorf("sent %.100q %s, received %.100q %s", text, data, body.Text, body.Data)
		}
	}
	ann.mustBeRefused("send", wire.SendRequest{Room: room, Key: f.key(), Text: "nul\x00"}, wire.CodeBadRequest)
	ann.must("wallet", map[string]string{"unknown": strings.Repeat("x", wire.FrameBytes-1000)})

	const most = 1<<53 - 1
	f.post("root", "admin/credit", wire.AdjustRequest{User: "ann", Amount: most, Key: "rich"}, nil)
	ann.await(1, "wallet")
	if got := replyOf[wire.WalletReply](ann, "wallet", wire.WalletRequest{}).Balance; got != most {
		f.t.Errorf("the balance is %d, want %d", got, int64(most))
	}
	bob.mustHaveAll(room)
}

// sameValue compares JSON by value. With JSON, centrifuge-js takes and returns values, so their text may differ.
func sameValue(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var values [2]any
	for i, text := range []json.RawMessage{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		e2e.NoError(t, d.Decode(&values[i]))
	}
	return reflect.DeepEqual(values[0], values[1])
}
