package load

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// golden returns a golden frame of the server's tests.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "web", "wire", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}

func messageOf(text []byte) (l message, ok bool) {
	ok = l.read(text)
	return l, ok
}

func TestReadMessage(t *testing.T) {
	for name, want := range map[string]kind{
		"ping": ping, "connect": reply, "reply-grab": reply, "reply-send": reply, "error-muted": refused, "push-text": publication,
		"push-packet_done": publication, "push-wallet": unsequenced, "push-unsubscribe": unsubscribed, "push-subscribe": other,
	} {
		l, ok := messageOf(golden(t, name))
		if !ok || l.kind != want {
			t.Errorf("%s: %t, %+v", name, ok, l)
		}
	}
	l, _ := messageOf(golden(t, "push-text"))
	if string(l.channel) != "room:r-1" || l.entry.offset != 42 || l.entry.seq != 42 || string(l.entry.id) != "e-42" || string(l.entry.key) != "k-0" || l.entry.at != 1767225600500 {
		t.Errorf("a text: %+v", l)
	}
	l, _ = messageOf(golden(t, "error-unavailable"))
	if l.id != 7 || l.refusal.code != 1000 || string(l.refusal.word) != "unavailable" || !l.refusal.temporary {
		t.Errorf("an error: %+v", l)
	}
	l, _ = messageOf(golden(t, "reply-grab"))
	if g, ok := readGrabbed(l.data); !ok || g != (grabbed{outcome: "won", amount: 134, rank: 1, claimed: 1, count: 5}) {
		t.Errorf("a grab: %+v", g)
	}
	l, _ = messageOf(golden(t, "reply-send"))
	if s, ok := readSent(l.data); !ok || s.seq != 42 || string(s.id) != "e-42" || s.at != 1767225600500 {
		t.Errorf("a send: %+v", s)
	}
}

func TestReadMessageRefuses(t *testing.T) {
	for _, text := range []string{
		"", "hello", "[]", "{", `{"id"}`, `{"id":}`, `{"id":1,"rpc":{"data":{}}`, `{"push":{"channel":"x`, `{"push":{"pub":{"offset":"1"}}}`, `{} {}`, `{"id":1.5}`,
	} {
		if l, ok := messageOf([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, l)
		}
	}
}

// FuzzReadMessage parses any input. The result must be that of encoding/json, and malformed input must be refused.
func FuzzReadMessage(f *testing.F) {
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "web", "wire", "testdata", "*.json"))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(bytes.TrimSpace(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, ok := messageOf(text)
		var want struct {
			ID  uint32
			RPC *struct{ Data json.RawMessage }
		}
		if json.Unmarshal(text, &want) != nil || !ok || want.RPC == nil || l.kind != reply {
			return
		}
		if bytes.Count(text, []byte(`"rpc"`)) == 1 && bytes.Count(text, []byte(`"data"`)) == 1 && bytes.Contains(text, []byte(`"rpc":{"data"`)) && !bytes.Equal(l.data, want.RPC.Data) {
			t.Errorf("%s: data %s, want %s", text, l.data, want.RPC.Data)
		}
	})
}
