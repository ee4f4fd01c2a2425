package sdk

import (
	"encoding/json"
	"slices"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// user is a client of an SDK with its event log.
type user struct {
	client
	*eventLog
}

// must sends a command that has to succeed, and returns the reply.
func (u *user) must(method string, request any) []byte {
	u.t.Helper()
	reply, err := u.call(method, e2e.JSON(request))
	if err != nil {
		u.t.Fatalf("%s: %s %.200s: got error %v, want success", u.name, method, e2e.JSON(request), err)
	}
	return reply
}

// replyOf is must with the reply decoded.
func replyOf[Reply any](u *user, method string, request any) (reply Reply) {
	u.t.Helper()
	e2e.NoError(u.t, json.Unmarshal(u.must(method, request), &reply))
	return reply
}

// mustHaveAll waits for a room's last entry, and reads announced gaps from history. Then the user must have each entry
// of the room, from the first one that came on, once and in order.
func (u *user) mustHaveAll(room string) {
	u.t.Helper()
	history := u.history(room, 0, e2e.All)
	u.await(1, "entry", room, len(history))
	u.mu.Lock()
	heard, gaps, disorder := slices.Clone(u.entries[room]), slices.Clone(u.gaps), u.disorder
	u.mu.Unlock()
	for _, violation := range disorder {
		u.t.Errorf("%s: entries out of order: %s", u.name, violation)
	}
	for _, g := range gaps {
		if g.room == room {
			heard = append(heard, u.history(room, g.after, g.through)...)
		}
	}
	slices.SortStableFunc(heard, e2e.BySeq)
	e2e.MustBeTail(u.t, u.name, heard, history)
}

func (u *user) history(room string, after, through int64) []wire.Entry {
	u.t.Helper()
	return e2e.ReadPages(after, through, func(after int64) wire.HistoryReply {
		return replyOf[wire.HistoryReply](u, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100})
	})
}
