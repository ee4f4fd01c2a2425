package chat_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/chat/rules"
)

// turns is a Limiter that refuses each key but once.
type turns struct{ taken sync.Map }

func (l *turns) Take(_ context.Context, key string, r chat.Rate) (time.Duration, error) {
	if _, again := l.taken.LoadOrStore(key, r); again {
		return 5 * time.Second, nil
	}
	return 0, nil
}

// against returns the RuleError of sending a text, or nil if the text was sent.
func (h *testService) against(user, room, key, text string) *chat.RuleError {
	h.Helper()
	_, err := h.Send(h.ctx, chat.User{ID: user, Name: user}, chat.Message{Room: room, Key: key, Text: text})
	var against *chat.RuleError
	if err != nil && !errors.As(err, &against) {
		h.Fatal(err)
	}
	return against
}

// last returns the seq of the last entry of a room.
func (h *testService) last(room string) int64 {
	h.Helper()
	seqs, err := h.store.LastSeqs(h.ctx, []string{room})
	noError(h.T, err)
	return seqs[room]
}

// ruledRoom returns a room of ann with bob, with these rules.
func (h *testService) ruledRoom(all ...rules.Rule) string {
	h.Helper()
	room := h.room(chat.Public, "ann", "bob")
	noError(h.T, h.SetRoomRules(h.ctx, chat.User{ID: "ann"}, room, all))
	return room
}

func TestRulesOfARoom(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }, Limiter: &turns{}})
	room := h.ruledRoom(rules.Rule{Kind: rules.Words, Words: []string{"spam"}, Say: "no spam"}, rules.Rule{Kind: rules.Slow, Seconds: 10}, rules.Rule{Kind: rules.Wait, Seconds: 60})
	if e := h.against("bob", room, "1", "hello"); e == nil || e.Rule != rules.Wait || !e.Until.Equal(now.Add(time.Minute)) {
		t.Errorf("a new member: %+v", e)
	}
	now = now.Add(time.Minute)
	if e := h.against("bob", room, "1", "SPAM"); e == nil || e.Rule != rules.Words || e.Say != "no spam" {
		t.Errorf("spam: %+v", e)
	}
	if e := h.against("bob", room, "1", "hello"); e != nil {
		t.Errorf("a text that keeps to the rules: %+v", e)
	}
	if e := h.against("bob", room, "2", "hello again"); e == nil || e.Rule != rules.Slow || !e.Until.Equal(now.Add(5*time.Second)) {
		t.Errorf("a text that comes too soon: %+v", e)
	}
	if e := h.against("bob", room, "1", "hello"); e != nil {
		t.Errorf("a repeated request: %+v", e)
	}
	for _, key := range []string{"a", "b"} {
		if e := h.against("ann", room, key, "spam"); e != nil {
			t.Errorf("the owner: %+v", e)
		}
	}
	if _, err := h.Edit(h.ctx, chat.User{ID: "bob"}, room, h.last(room)-2, "spam", nil); !errors.Is(err, chat.ErrAgainstRules) {
		t.Errorf("an edit to spam: %v", err)
	}
	if err := h.CheckWords(h.ctx, chat.User{ID: "bob"}, room, "s p a m"); err != nil {
		t.Errorf("other words: %v", err)
	}
	if err := h.CheckWords(h.ctx, chat.User{ID: "bob"}, room, "spam"); !errors.Is(err, chat.ErrAgainstRules) {
		t.Errorf("a greeting with spam: %v", err)
	}
	seqs, tried, err := h.TryRules(h.ctx, chat.User{ID: "ann"}, room, []rules.Rule{{Kind: rules.Words, Words: []string{"spam"}}})
	if err != nil || tried != 3 || !slices.Equal(seqs, []int64{h.last(room), h.last(room) - 1}) {
		t.Errorf("tried on %d texts: %v, %v", tried, seqs, err)
	}
}

func TestRulesOfTheInstallation(t *testing.T) {
	set, err := rules.Compile([]rules.Rule{{Kind: rules.Words, Words: []string{"spam"}}, {Kind: rules.Wait, Seconds: 60}}, rules.OfInstallation)
	noError(t, err)
	h := newTestService(t, chat.Options{Rules: func() *rules.Set { return set }})
	room := h.room(chat.Private, "ann", "bob")
	if e := h.against("ann", room, "1", "hello"); e == nil || e.Rule != rules.Wait {
		t.Errorf("an owner of a new room: %+v", e)
	}
	direct, err := h.Direct(h.ctx, chat.User{ID: "ann"}, "bob")
	noError(t, err)
	if e := h.against("ann", direct.Room.ID, "2", "hello"); e != nil {
		t.Errorf("a text to one user: %+v", e)
	}
	if e := h.against("ann", direct.Room.ID, "3", "spam"); e == nil || e.Rule != rules.Words {
		t.Errorf("spam to one user: %+v", e)
	}
	if _, err := h.Send(h.ctx, chat.User{ID: "eve"}, chat.Message{Room: room, Key: "1", Text: "spam"}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a user that must not know the room: %v", err)
	}
	if _, err := h.Send(h.ctx, chat.System, chat.Message{Room: room, Key: "1", Text: "spam"}); err != nil {
		t.Errorf("the system: %v", err)
	}
	if err := h.SetRoomRules(h.ctx, chat.User{ID: "ann"}, direct.Room.ID, nil); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("rules of a direct room: %v", err)
	}
}

// TestRulesOfOtherInstances changes the rules on another instance: this one uses them 10 s later.
func TestRulesOfOtherInstances(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	h := newTestService(t, chat.Options{Now: func() time.Time { return now }})
	room := h.ruledRoom()
	other := h.restarted(chat.Options{})
	noError(t, other.SetRoomRules(h.ctx, chat.User{ID: "ann"}, room, []rules.Rule{{Kind: rules.Words, Words: []string{"spam"}}}))
	for i, refused := range []bool{false, true} {
		if e := h.against("bob", room, string(rune('a'+i)), "spam"); (e != nil) != refused {
			t.Errorf("after %d steps of 10 s: %+v, want a refusal: %v", i, e, refused)
		}
		now = now.Add(10 * time.Second)
	}
}

func TestHeldTexts(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.ruledRoom(rules.Rule{Kind: rules.Words, Do: rules.Hold, Words: []string{"spam"}}, rules.Rule{Kind: rules.Words, Do: rules.Report, Words: []string{"odd"}})
	before := h.last(room)
	for range 2 {
		if e := h.against("bob", room, "1", "spam"); e == nil || !e.Held {
			t.Errorf("a text to be held: %+v", e)
		}
	}
	held, err := h.HeldTexts(h.ctx, chat.User{ID: "ann"}, room)
	if err != nil || len(held) != 1 || held[0].Message.Text != "spam" || h.last(room) != before {
		t.Fatalf("held %+v, %v", held, err)
	}
	if _, err := h.HeldTexts(h.ctx, chat.User{ID: "bob"}, room); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("a plain member lists held texts: %v", err)
	}
	ann := chat.User{ID: "ann"}
	noError(t, h.AnswerText(h.ctx, ann, room, held[0].ID, true))
	if r, err := h.Send(h.ctx, chat.User{ID: "bob"}, chat.Message{Room: room, Key: "1", Text: "spam"}); err != nil || !r.Dup || r.Seq != before+1 {
		t.Errorf("the author repeats the request: %+v, %v", r, err)
	}
	if err := h.AnswerText(h.ctx, ann, room, held[0].ID, false); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a second answer: %v", err)
	}

	h.against("bob", room, "2", "more spam")
	held, err = h.HeldTexts(h.ctx, ann, room)
	noError(t, err)
	noError(t, h.AnswerText(h.ctx, ann, room, held[0].ID, false))
	h.against("bob", room, "3", "late spam")
	held, err = h.HeldTexts(h.ctx, ann, room)
	noError(t, err)
	noError(t, h.Leave(h.ctx, chat.User{ID: "bob"}, room))
	if err := h.AnswerText(h.ctx, ann, room, held[0].ID, true); !errors.Is(err, chat.ErrConflict) {
		t.Errorf("the text of a user that has left: %v", err)
	}
	if held, err := h.HeldTexts(h.ctx, ann, room); err != nil || len(held) != 0 {
		t.Errorf("%+v still wait, %v", held, err)
	}
}

// TestAnswersOfTwoAdmins lets two admins answer one text at once, in opposite ways: the text is sent, or it is not.
func TestAnswersOfTwoAdmins(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.ruledRoom(rules.Rule{Kind: rules.Words, Do: rules.Hold, Words: []string{"spam"}})
	for n := range 20 {
		before := h.last(room)
		h.against("bob", room, string(rune('a'+n)), "spam")
		held, err := h.HeldTexts(h.ctx, chat.User{ID: "ann"}, room)
		noError(t, err)
		var both sync.WaitGroup
		answers := [2]error{}
		for i := range answers {
			both.Go(func() { answers[i] = h.AnswerText(h.ctx, chat.User{ID: "ann"}, room, held[0].ID, i == 0) })
		}
		both.Wait()
		if sent := h.last(room) > before; (answers[0] == nil) != sent || (answers[1] == nil) == sent {
			t.Fatalf("the text was sent: %v, and the answers are %v", sent, answers)
		}
	}
}

func TestReportedText(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.ruledRoom(rules.Rule{Kind: rules.Words, Do: rules.Report, Words: []string{"odd"}})
	if e := h.against("bob", room, "1", "an odd text"); e != nil {
		t.Errorf("a text to be reported: %+v", e)
	}
	all, err := h.store.Reports(h.ctx, chat.ReportQuery{Limit: 10})
	if err != nil || len(all) != 1 || all[0].By != chat.System.ID || all[0].About != "bob" || all[0].Seq != h.last(room) || all[0].Text != "rule: words" {
		t.Errorf("reports: %+v, %v", all, err)
	}
}
