package web

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// TestResumeOverRetiredTexts lets a socket resume from before texts that the retention has removed, on the instance that has removed them and on
// another one. Both have kept the texts in memory for clients that come back.
func TestResumeOverRetiredTexts(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	var ahead atomic.Int64 // days
	engines.rooms = chat.Options{
		Now: func() time.Time { return time.Now().AddDate(0, 0, int(ahead.Load())) }, Retention: chat.Retention{Days: chat.KeptDays{Public: 10, Private: 10}},
	}
	one, two := engines.open(t), engines.open(t)
	ann := one.signIn(t, "ann", 0)
	room := one.room(t, ann, "tea").ID
	one.fill(t, ann, room, "quince", 20)
	epoch, err := one.chat.Epoch(context.Background())
	noError(t, err)
	addresses := []string{one.listen(t), two.listen(t)}
	resume := func(addr string, want int) bool {
		t.Helper()
		r := dial(t, addr, wire.JSON).connect(goodToken(t, "ann"), subs(epoch, map[string]int64{room: 5}))
		sub := r.Subs["room:"+room]
		retired := 0
		for _, p := range sub.Publications {
			var e struct{ Body wire.TextBody }
			noError(t, json.Unmarshal(p.Data, &e))
			if e.Body.Retired && e.Body.Recalled && e.Body.Text == "" {
				retired++
			}
		}
		return sub.Recovered && len(sub.Publications) == int(sub.Offset)-5 && retired == want
	}
	for _, addr := range addresses {
		for range 2 { // the first one fills the memory
			if !resume(addr, 0) {
				t.Error("a text is retired before its time")
			}
		}
	}
	ahead.Store(11)
	if _, err := one.chat.Send(context.Background(), ann.User, chat.Message{Room: room, Key: "today", Text: "today"}); err != nil {
		t.Fatal(err)
	}
	one.chat.RetirePass(context.Background(), func(time.Duration) bool { return true })
	for _, addr := range addresses {
		one.eventually(t, "the resumed socket gets tombstones", func() bool { return resume(addr, 15) })
	}
}
