package chat

import (
	"encoding/json"
	"testing"
)

func TestFolded(t *testing.T) {
	const body = `{"text":"<old>","data":{"n":1e400,"a":"<b>"},"reply_to":3,"mentions":["a","b"]}`
	newer, none := "<new>", ""
	for _, test := range []struct {
		fold Fold
		want string
	}{
		{Fold{}, body},
		{Fold{Reactions: map[string]int{}}, body},
		{Fold{Text: &newer, EditedAt: 5, EditSeq: 9}, `{"text":"<new>","data":{"n":1e400,"a":"<b>"},"reply_to":3,"mentions":["a","b"],"edited_at":5}`},
		{Fold{Text: &none, EditedAt: 5}, `{"text":"","data":{"n":1e400,"a":"<b>"},"reply_to":3,"mentions":["a","b"],"edited_at":5}`},
		{Fold{Reactions: map[string]int{"b": 1, "a": 2}},
			`{"text":"<old>","data":{"n":1e400,"a":"<b>"},"reply_to":3,"mentions":["a","b"],"reactions":{"a":2,"b":1}}`},
		{Fold{RecallSeq: 7}, `{"recalled":true}`},
	} {
		e := Entry{Seq: 4, Kind: KindText, Key: "k", Body: json.RawMessage(body)}
		got, err := e.Folded(test.fold)
		if err != nil || string(got.Body) != test.want || got.Seq != 4 || got.Key != "k" {
			t.Errorf("%+v: %s of %+v, %v\nwant %s", test.fold, got.Body, got, err, test.want)
		}
		if string(e.Body) != body {
			t.Errorf("%+v: the entry itself has become %s", test.fold, e.Body)
		}
	}
	packet := Entry{Seq: 5, Kind: KindPacket, Body: json.RawMessage(`{"id":"p","from":{"id":"u"},"greeting":"<b>","total":9007199254740991}`)}
	got, err := packet.Folded(Fold{Reactions: map[string]int{"🙏": 2}})
	if want := `{"from":{"id":"u"},"greeting":"<b>","id":"p","reactions":{"🙏":2},"total":9007199254740991}`; err != nil || string(got.Body) != want {
		t.Errorf("packet: %s, %v\nwant %s", got.Body, err, want)
	}
	for _, bad := range []string{`5`, `null`, `{`} {
		if _, err := (Entry{Kind: KindPacket, Body: json.RawMessage(bad)}).Folded(Fold{Reactions: map[string]int{"🙏": 2}}); err == nil {
			t.Errorf("a packet with the body %s was folded", bad)
		}
	}
	if _, err := (Entry{Body: json.RawMessage(`5`)}).Folded(Fold{Text: &newer}); err == nil {
		t.Error("what is no text was folded")
	}
	if got := string(EmptyEdit(1 << 40)); got != `{"target":1099511627776,"recalled":true}` {
		t.Errorf("empty edit %s", got)
	}
}
