package chat

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"hongbao/redpacket/crashpoint"
)

// Retention says how long texts are kept. A text that is older is retired: it, its edits, its reactions and its files are removed, as by a recall.
// What stays is an empty entry, so the seqs of a room keep no gap.
type Retention struct {
	Days  KeptDays
	Hours Hours
}

// KeptDays says for how many days rooms of each kind keep their texts. 0: for ever.
type KeptDays struct{ Public, Private, Direct int }

// Of returns for how many days a room of this kind keeps its texts. own is what was set for the room; 0: nothing.
func (d KeptDays) Of(kind RoomKind, own int) int {
	switch {
	case own > 0:
		return own
	case kind == Public:
		return d.Public
	case kind == Direct:
		return d.Direct
	}
	return d.Private
}

// Hours are hours of the day in UTC, from From up to To. They may go over midnight. If both are equal, all hours are meant.
type Hours struct{ From, To int }

// Has reports whether the time is in one of the hours.
func (h Hours) Has(t time.Time) bool {
	hour := t.UTC().Hour()
	if h.From <= h.To {
		return h.From == h.To || h.From <= hour && hour < h.To
	}
	return hour >= h.From || hour < h.To
}

// MostKeptDays is the largest number of days for which texts can be kept, other than for ever: a hundred years.
const MostKeptDays = 36_500

// RoomRetention is how long a room keeps its texts.
type RoomRetention struct {
	Room string
	Kind RoomKind
	Days int   // set for this room; 0: as rooms of its kind
	Seq  int64 // the texts up to this one are retired
	Held bool  // a legal hold of the room, or of a user that has been in it, stops the retention
}

// RetentionQuery asks for rooms with texts that are too old.
type RetentionQuery struct {
	After string // id of a room: look at the rooms after it
	Limit int    // look at so many rooms
	Days  KeptDays
	At    time.Time
}

// OldTexts is a room with texts that are too old.
type OldTexts struct {
	Room string
	Late time.Duration // since when the oldest of them should be retired
}

// RetireStep asks for the next step of the retention in a room.
type RetireStep struct {
	Room string
	Days KeptDays
	At   time.Time
}

// Retired is the result of a step.
type Retired struct {
	Texts int  // that the step has retired
	More  bool // another step may find more texts that are too old
	Held  bool // a legal hold forbids the step
}

// RetentionStore retires texts. It goes through the entries of a room in their order, up to the first one that is not too old.
type RetentionStore interface {
	// SetRetention sets for how many days the room keeps its texts; 0: as rooms of its kind. Texts that are retired do not come back. ErrNotFound:
	// there is no such room.
	SetRetention(ctx context.Context, room string, days int) (RoomRetention, error)
	// RoomRetention returns how long the room keeps its texts. ErrNotFound: there is no such room.
	RoomRetention(ctx context.Context, room string) (RoomRetention, error)
	// OldTexts looks at the next rooms, by id, also at deleted ones. It returns those with texts that are too old, and the id of the last room that
	// it has looked at; "" if there is no other.
	OldTexts(ctx context.Context, q RetentionQuery) (rooms []OldTexts, last string, err error)
	// Retire takes the next step: it goes through a bounded number of entries of the room.
	Retire(ctx context.Context, s RetireStep) (Retired, error)
}

// RetentionStats says what this instance has retired, and what is left over.
type RetentionStats struct {
	Texts int64         // retired since the start
	Held  int64         // rooms with texts that are too old and under a legal hold, in the last pass
	Late  time.Duration // in the last pass: since when the text should have been retired that waited longest, without rooms under a hold
}

// retentionCounters holds RetentionStats.
type retentionCounters struct{ texts, held, late atomic.Int64 }

// RetentionStats returns what this instance has retired.
func (s *Service) RetentionStats() RetentionStats {
	c := &s.retention.counters
	return RetentionStats{Texts: c.texts.Load(), Held: c.held.Load(), Late: time.Duration(c.late.Load())}
}

// KeptDays returns for how many days the room keeps its texts; 0: for ever.
func (s *Service) KeptDays(r RoomRetention) int { return s.retention.Days.Of(r.Kind, r.Days) }

// SetRetention is RetentionStore.SetRetention.
func (s *Service) SetRetention(ctx context.Context, room string, days int) (RoomRetention, error) {
	if err := checkID("room", room); err != nil {
		return RoomRetention{}, err
	}
	if days < 0 || days > MostKeptDays {
		return RoomRetention{}, BadField("days", fmt.Sprintf("must be from 1 to %d, or 0: as rooms of this kind", MostKeptDays))
	}
	return s.store.SetRetention(ctx, room, days)
}

// RoomRetention is RetentionStore.RoomRetention.
func (s *Service) RoomRetention(ctx context.Context, room string) (RoomRetention, error) {
	if err := checkID("room", room); err != nil {
		return RoomRetention{}, err
	}
	return s.store.RoomRetention(ctx, room)
}

const (
	// retentionEvery is how often an instance looks for texts that are too old, and retentionBegins how soon it begins.
	retentionEvery  = time.Hour
	retentionBegins = 5 * time.Second
	// outsideHours is how often it looks whether the hours have begun.
	outsideHours = time.Minute
	// retentionRooms is how many rooms one query looks at.
	retentionRooms = 200
	// retentionShare is the part of the time, 1/retentionShare, in which queries and steps run: all else comes first.
	retentionShare = 10
)

// retention is what RunRetention needs.
type retention struct {
	Retention
	counters retentionCounters
	from     string // room after which the next pass begins: the last one was cut off there; used by RetirePass only
}

// RunRetention retires texts until ctx ends. All instances may do so: what one has retired, the others do not find.
func (s *Service) RunRetention(ctx context.Context) {
	for pause := rand.N(retentionBegins); wait(ctx, pause); { //nolint:gosec // only spreads the instances
		if pause = outsideHours; s.retention.Hours.Has(s.now()) {
			s.RetirePass(ctx, func(took time.Duration) bool { return wait(ctx, (retentionShare-1)*took) })
			pause = retentionEvery
		}
	}
}

// RetirePass goes through all rooms once. It begins after the room where the last pass was cut off, so that a large room does not keep the others waiting.
// It ends early when the hours of the retention are over. Between steps it calls pause with how long the step took, and it ends if pause returns false.
func (s *Service) RetirePass(ctx context.Context, pause func(took time.Duration) bool) {
	p := retentionPass{Service: s, pause: pause}
	defer p.count()
	first := s.retention.from
	if p.through(ctx, "") && first != "" {
		p.through(ctx, first)
	}
}

// through retires in the rooms after that of retention.from, up to the one with the id to; "": in all. It reports whether it was not cut off.
func (p *retentionPass) through(ctx context.Context, to string) bool {
	for p.mayGoOn() {
		began := time.Now()
		rooms, next, err := p.store.OldTexts(ctx, RetentionQuery{After: p.retention.from, Limit: retentionRooms, Days: p.retention.Days, At: p.now()})
		looked := time.Since(began)
		if err != nil {
			p.log.Warn("retention does not find old texts", "err", err)
			return false
		}
		for _, room := range rooms {
			if !p.mayGoOn() {
				p.late = max(p.late, room.Late)
				continue
			}
			p.retire(ctx, room)
			p.retention.from = room.Room
		}
		if !p.mayGoOn() {
			return false
		}
		if p.retention.from = next; next == "" || to != "" && next >= to {
			p.retention.from = ""
			return true
		}
		p.took(looked)
	}
	return false
}

// retentionPass is one way through all rooms.
type retentionPass struct {
	*Service

	pause func(took time.Duration) bool
	ended bool
	held  int64
	late  time.Duration
}

// count stores what the pass has found.
func (p *retentionPass) count() {
	p.retention.counters.held.Store(p.held)
	p.retention.counters.late.Store(int64(p.late))
}

func (p *retentionPass) mayGoOn() bool { return !p.ended && p.retention.Hours.Has(p.now()) }

func (p *retentionPass) took(took time.Duration) { p.ended = p.ended || !p.pause(took) }

// retire takes steps in the room until no text there is too old.
func (p *retentionPass) retire(ctx context.Context, room OldTexts) {
	for more := true; more && p.mayGoOn(); {
		began := time.Now()
		crashpoint.Here("retire.before-step")
		done, err := p.store.Retire(ctx, RetireStep{Room: room.Room, Days: p.retention.Days, At: p.now()})
		crashpoint.Here("retire.after-step")
		p.NoteOutcome(room.Room, err)
		if !done.Held {
			p.late = max(p.late, room.Late)
		}
		if err != nil {
			p.log.Warn("step of the retention failed", "room", room.Room, "err", err)
			return
		}
		if done.Held {
			p.held++
			return
		}
		p.retention.counters.texts.Add(int64(done.Texts))
		p.pub.ToRoom(room.Room, TextsRetired{Room: room.Room}) // also if Texts is 0: an earlier run of the step may have been committed
		more = done.More
		p.took(time.Since(began))
	}
}

// TextsRetired tells all instances that texts of a room are retired. What instances keep of them is outdated.
type TextsRetired struct{ Room string }

// EventName implements Event.
func (TextsRetired) EventName() string { return "texts_retired" }
