package chat

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hongbao/chat/rules"
)

// ErrAgainstRules means that a rule of the room or of the installation forbids what a user wants to write. The error is a *RuleError.
var ErrAgainstRules error = RequestError("against_rules")

// RuleError is ErrAgainstRules with the rule.
type RuleError struct {
	Rule  rules.Kind
	Say   string    // to the user
	Until time.Time // when the rule ends for the user; zero: it does not end
	Held  bool      // the text is kept until an admin admits it
}

func (e *RuleError) Error() string { return ErrAgainstRules.Error() + ": " + string(e.Rule) }

func (e *RuleError) Unwrap() error { return ErrAgainstRules }

// RuleStore keeps the rules of rooms, and the texts that wait for an admin.
type RuleStore interface {
	// RoomRules returns the rules of a room as SetRoomRules has stored them; nil: none.
	RoomRules(ctx context.Context, room string) ([]byte, error)
	// SetRoomRules stores the rules of a room; nil: none.
	SetRoomRules(ctx context.Context, room string, rules []byte) error
	// JoinedAt returns when a member has joined the room; zero: the user is not in it.
	JoinedAt(ctx context.Context, room, user string) (time.Time, error)
	// HoldText keeps a text, unless the author has a held text with this key in the room. If the room has most texts, or the author has mostOfUser,
	// the error is ErrLimitExceeded. It drops texts of the room from before the time dropped.
	HoldText(ctx context.Context, h HeldText, most, mostOfUser int, dropped time.Time) error
	// HeldTexts lists the texts of a room that are held since the given time or later, the oldest first, at most limit.
	HeldTexts(ctx context.Context, room string, since time.Time, limit int) ([]HeldText, error)
	// AdmitHeld marks a held text as admitted, and returns it. It stays held until DropHeld. ErrNotFound: there is none.
	AdmitHeld(ctx context.Context, room, id string) (HeldText, error)
	// DropHeld drops a held text that is admitted, or one that is not. dropped is false if there is none.
	DropHeld(ctx context.Context, room, id string, admitted bool) (dropped bool, err error)
}

// HeldText is a text that waits for an admin.
type HeldText struct {
	Room, ID string
	From     User // with the name of then
	At       time.Time
	Rule     rules.Kind // that holds it
	Message  Message
}

const (
	heldMost       = 200
	heldMostOfUser = 5
	heldFor        = 7 * 24 * time.Hour
	rulesFor       = 10 * time.Second // how long an instance uses the rules of a room that another has changed
	rulesKept      = 2_000            // rooms whose rules are in memory
	triedTexts     = 1_000            // on which rules are tried
	reportsAnHour  = 20               // that rules make in a room
)

// order applies the rules of the installation and those of rooms. The zero value has none.
type order struct {
	installation func() *rules.Set // nil: none
	limiter      Limiter           // nil: rules about how often a user writes are not applied
	log          *slog.Logger

	mu    sync.Mutex
	rooms map[string]roomRules // guarded by mu
}

// roomRules are the rules of a room, as they were when it was read.
type roomRules struct {
	set   *rules.Set // nil: none
	until time.Time
}

// rulesOf returns the rules of a room.
func (s *Service) rulesOf(ctx context.Context, room string) (*rules.Set, error) {
	now := s.now()
	s.order.mu.Lock()
	held, ok := s.order.rooms[room]
	s.order.mu.Unlock()
	if ok && now.Before(held.until) {
		return held.set, nil
	}
	stored, err := s.storedRules(ctx, room)
	if err != nil {
		return nil, err
	}
	var set *rules.Set
	if len(stored) > 0 {
		if set, err = rules.Compile(stored, rules.OfRoom); err != nil {
			return nil, fmt.Errorf("%w: rules of room %s: %w", ErrUnavailable, room, err)
		}
	}
	s.order.put(room, roomRules{set, now.Add(rulesFor)})
	return set, nil
}

func (o *order) put(room string, r roomRules) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rooms == nil {
		o.rooms = map[string]roomRules{}
	}
	if len(o.rooms) >= rulesKept {
		clear(o.rooms)
	}
	o.rooms[room] = r
}

func (s *Service) storedRules(ctx context.Context, room string) (all []rules.Rule, err error) {
	text, err := s.store.RoomRules(ctx, room)
	if err != nil || text == nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%w: rules of room %s: %w", ErrUnavailable, room, err)
	}
	return all, nil
}

// written is what rules are applied to.
type written struct {
	room     string
	from     User
	text     string
	hasFiles bool
	changes  bool // it changes a text that was sent: it cannot be held, and how often the user writes does not count
}

// judgement is what the rules say of a text that may be sent or held.
type judgement struct {
	held    *rules.Rule
	reports []*rules.Rule
	rates   []rules.Rate
}

// judge applies the rules to a text. Those of the room do not apply to its owner and admins, and System is free. A user that is not in the room is
// refused later, and must not learn from a rule that there is such a room.
func (s *Service) judge(ctx context.Context, w written) (j judgement, err error) {
	if w.from.IsSystem() {
		return j, nil
	}
	ofRoom, err := s.rulesOf(ctx, w.room)
	if err != nil {
		return j, err
	}
	var ofAll *rules.Set
	if s.order.installation != nil {
		ofAll = s.order.installation()
	}
	if ofRoom.Empty() && ofAll.Empty() {
		return j, nil
	}
	st, err := s.Standing(ctx, w.room, w.from.ID)
	if err != nil || !st.In {
		return j, err
	}
	all := []*rules.Set{ofAll}
	if st.Role.rank() < Admin.rank() {
		all = append(all, ofRoom)
	}
	text := rules.Text{Text: w.text, HasFiles: w.hasFiles, Now: s.now()}
	for _, set := range all {
		if set.AboutNew() && text.JoinedAt.IsZero() {
			if text.JoinedAt, err = s.joinedAt(ctx, w.room, w.from.ID); err != nil {
				return j, err
			}
		}
		if err := j.add(set.Check(text), w.changes); err != nil {
			return j, err
		}
	}
	return j, s.takeTurns(ctx, j.rates, w)
}

// joinedAt returns when a member has joined the room. In a direct room nobody is new.
func (s *Service) joinedAt(ctx context.Context, room, user string) (time.Time, error) {
	if direct, err := s.isDirect(ctx, room); err != nil || direct {
		return time.Time{}, err
	}
	return s.store.JoinedAt(ctx, room, user)
}

// add adds what the rules of a set say. It returns a RuleError if they refuse the text.
func (j *judgement) add(v rules.Verdict, changes bool) error {
	if v.Refused != nil {
		return &RuleError{Rule: v.Refused.Kind, Say: v.Refused.Say, Until: v.Until}
	}
	if v.Held != nil && changes {
		return &RuleError{Rule: v.Held.Kind, Say: v.Held.Say}
	}
	j.held, j.reports, j.rates = cmp.Or(j.held, v.Held), append(j.reports, v.Reports...), append(j.rates, v.Rates...)
	return nil
}

// takeTurns returns a RuleError if the user writes too often. It comes last: a text that is refused takes no turn.
func (s *Service) takeTurns(ctx context.Context, rates []rules.Rate, w written) error {
	for _, rate := range rates {
		if w.changes || rate.Same && w.text == "" {
			continue
		}
		if err := s.takeTurn(ctx, rate, w); err != nil {
			return err
		}
	}
	return nil
}

// takeTurn returns a RuleError if the user writes too often.
func (s *Service) takeTurn(ctx context.Context, rate rules.Rate, w written) error {
	if s.order.limiter == nil {
		return nil
	}
	key := "slow:" + w.room + ":" + w.from.ID
	if rate.Same {
		key = "repeat:" + hex.EncodeToString(RequestHash("repeat", w.room, w.from.ID, rules.Fold(w.text)))
	}
	wait, err := s.order.limiter.Take(ctx, key, Rate{PerSecond: 1 / rate.Per.Seconds(), Burst: 1})
	if err == nil && wait > 0 {
		err = &RuleError{Rule: rate.Rule.Kind, Say: rate.Rule.Say, Until: s.now().Add(wait)}
	}
	return err
}

// hold keeps a text for the admins of its room.
func (s *Service) hold(ctx context.Context, from User, m Message, rule rules.Kind) error {
	st, err := s.StoredStanding(ctx, m.Room, from.ID)
	if err != nil {
		return err
	}
	now := s.now()
	if err := st.MaySend(now); err != nil {
		return err
	}
	err = s.store.HoldText(ctx, HeldText{Room: m.Room, ID: s.newID(now), From: from, At: now, Rule: rule, Message: m}, heldMost, heldMostOfUser, now.Add(-heldFor))
	if errors.Is(err, ErrLimitExceeded) {
		return &FieldError{Err: ErrLimitExceeded, Field: "text", Reason: "must wait for an admin, and too many texts wait"}
	}
	return err
}

// reportText reports a text that was sent, in the name of System, a few times an hour and room: otherwise a rule that meets every text would bury the
// reports of users. The text stays sent if that fails.
func (s *Service) reportText(ctx context.Context, e Entry, rule *rules.Rule) {
	if s.order.limiter != nil {
		wait, err := s.order.limiter.Take(ctx, "rule-reports:"+e.Room, Rate{PerSecond: reportsAnHour / 3600.0, Burst: reportsAnHour})
		if err != nil || wait > 0 {
			return
		}
	}
	now := s.now()
	n := NewReport{
		Report: Report{
			ID: s.newID(now), Kind: ReportMessage, By: System.ID, About: e.From.ID, Room: e.Room, Seq: e.Seq, Reason: "other", Text: "rule: " + string(rule.Kind), At: now, State: ReportOpen,
		},
		Key: e.ID, Hash: RequestHash("rule", e.ID),
	}
	if _, _, err := s.store.AddReport(context.WithoutCancel(ctx), n); err != nil {
		s.order.log.Warn("text not reported", "room", e.Room, "seq", e.Seq, "err", err)
	}
}

// CheckWords applies the rules to words that are no text, such as the greeting of a packet: they are refused also where a text would be held.
func (s *Service) CheckWords(ctx context.Context, from User, room, words string) error {
	_, err := s.judge(ctx, written{room: room, from: from, text: words, changes: true})
	return err
}

// governs returns an error unless the user is the owner or an admin of the room. System is one of every room.
func (s *Service) governs(ctx context.Context, room string, by User) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	if by.IsSystem() {
		return s.roomExists(ctx, room)
	}
	st, err := s.StoredStanding(ctx, room, by.ID)
	if err != nil {
		return err
	}
	if err := st.MayRead(); err != nil {
		return err
	}
	if st.Role.rank() < Admin.rank() {
		return ErrForbidden
	}
	return nil
}

// RoomRules returns the rules of a room to its owner, its admins or System.
func (s *Service) RoomRules(ctx context.Context, by User, room string) ([]rules.Rule, error) {
	if err := s.governs(ctx, room, by); err != nil {
		return nil, err
	}
	return s.storedRules(ctx, room)
}

// SetRoomRules replaces the rules of a room. Other instances use them within rulesFor.
func (s *Service) SetRoomRules(ctx context.Context, by User, room string, all []rules.Rule) error {
	set, err := s.compile(ctx, by, room, all)
	if err != nil {
		return err
	}
	var text []byte
	if len(all) > 0 {
		if text, err = json.Marshal(all); err != nil {
			return err
		}
	}
	if err := s.store.SetRoomRules(ctx, room, text); err != nil {
		return err
	}
	s.order.put(room, roomRules{set, s.now().Add(rulesFor)})
	return nil
}

// TryRules returns which of the newest texts of the room the rules would have refused, held or reported, the newest first, and how many were tried.
func (s *Service) TryRules(ctx context.Context, by User, room string, all []rules.Rule) (seqs []int64, tried int, err error) {
	set, err := s.compile(ctx, by, room, all)
	if err != nil {
		return nil, 0, err
	}
	var before *int64
	for tried < triedTexts && ctx.Err() == nil {
		page, more, err := s.store.History(ctx, room, Page{Before: before, Limit: pageMax, MaxBytes: pageBytes})
		if err != nil {
			return nil, 0, err
		}
		for i := len(page) - 1; i >= 0 && tried < triedTexts; i-- {
			if page[i].Kind != KindText {
				continue
			}
			tried++
			var body Text
			if err := json.Unmarshal(page[i].Body, &body); err != nil {
				continue
			}
			// Nobody is new: only what a text says counts.
			if v := set.Check(rules.Text{Text: body.Text, Now: s.now()}); v.Refused != nil || v.Held != nil || len(v.Reports) > 0 {
				seqs = append(seqs, page[i].Seq)
			}
		}
		if !more {
			break
		}
		before = &page[0].Seq
	}
	return seqs, tried, nil
}

func (s *Service) compile(ctx context.Context, by User, room string, all []rules.Rule) (*rules.Set, error) {
	if err := s.governs(ctx, room, by); err != nil {
		return nil, err
	}
	if direct, err := s.isDirect(ctx, room); err != nil || direct {
		return nil, cmp.Or(err, ErrForbidden)
	}
	set, err := rules.Compile(all, rules.OfRoom)
	if err != nil {
		return nil, BadField("rules", err.Error())
	}
	return set, nil
}

// HeldTexts lists the texts that wait for the owner or an admin of the room, the oldest first.
func (s *Service) HeldTexts(ctx context.Context, by User, room string) ([]HeldText, error) {
	if err := s.governs(ctx, room, by); err != nil {
		return nil, err
	}
	return s.store.HeldTexts(ctx, room, s.now().Add(-heldFor), heldMost)
}

// AnswerText sends a held text as its author's, or drops it. If the author may not write any more, it is dropped, too. Of
// several calls the first decides. A text that was admitted and not sent, because an instance died, is sent by the next call.
func (s *Service) AnswerText(ctx context.Context, by User, room, id string, admit bool) error {
	if err := s.governs(ctx, room, by); err != nil {
		return err
	}
	gone := &FieldError{Err: ErrNotFound, Field: "id", Reason: "is no text that waits"}
	if !admit {
		dropped, err := s.store.DropHeld(ctx, room, id, false)
		if err == nil && !dropped {
			return gone
		}
		return err
	}
	h, err := s.store.AdmitHeld(ctx, room, id)
	if errors.Is(err, ErrNotFound) {
		return gone
	}
	if err != nil {
		return err
	}
	_, _, refused := s.appendText(ctx, h.From, h.Message)
	if errors.Is(refused, ErrUnavailable) {
		return refused
	}
	if _, err := s.store.DropHeld(ctx, room, id, true); err != nil {
		return err
	}
	if refused != nil {
		return &FieldError{Err: ErrConflict, Field: "id", Reason: "cannot be sent, because its author may not write any more, or its files are gone"}
	}
	return nil
}
