package redpacket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
	"hongbao/redpacket/proof"
)

// A draw is a packet that users enter for a while (Packet.Window). When that ends, its shares are drawn among the participants. Each is
// equally likely to win, in whatever order they came. The Pool has no part in it. An entry is committed like a text. When
// entering has ended, Ledger.Draw fixes the participants by a root, and the seed says which of them win. So any instance may draw at any
// time, again and at once. What is drawn is paid and ended as all grants are (flow.close).

// Participant is a user that has entered a draw.
type Participant struct {
	User string
	Wave int        // of a rain, from 1; 0: the packet is no rain
	Leaf proof.Hash // proof.Leaf of the packet, the wave and the user
	At   time.Time
}

// Drawn is what is known of a draw once entering has ended.
type Drawn struct {
	At           time.Time
	Participants int
	Root         string // hex
	Parts        int    // how many shares the total was cut into anew (RestShare); 0: it was not
}

// DrawState is the state of a draw as one user may see it.
type DrawState struct {
	Participants int
	Root         string         // hex; empty until entering has ended
	Mine         *Participant   // nil: the user has not entered
	Receipt      *proof.Receipt // of Mine; only package redpacket sets it
}

// Entrant is a user that wants to enter a draw.
type Entrant struct {
	User    string
	Person  string // of a packet with OnePerPerson: see Packet.personIn
	Refused bool   // the user may not enter: Ledger.Enter only finds out whether the user has entered before
}

// Entering is what Ledger.Enter has found and done.
type Entering struct {
	Status       Status                 // of the packet
	Wave         int                    // of a rain: the wave that users can enter now; 0: there is none
	Early        bool                   // it has not opened
	Participants int                    // how many users have entered the draw, or the wave, by now
	Entered      map[string]Participant // those of the users that have entered, now or before
	New          []string               // the users that this call has entered
	Elsewhere    map[string]string      // those of the users whose person has entered as another user, with that user
}

// DrawRequest asks Ledger.Draw to end the entering of a draw.
type DrawRequest struct {
	Ref
	Why CloseReason
}

// Draw is the result of Ledger.Draw.
type Draw struct {
	Refused      bool // CloseDue came too early, or CloseCancel too late
	Book         Book
	Participants []Participant // ordered by leaf; nil if the packet has ended, and of a rain
	Waves        []Wave        // of a rain: all that have been drawn
	New          int           // how many of Waves this call has drawn: the last ones
}

// SortByLeaf sorts participants as their root covers them.
func SortByLeaf(participants []Participant) {
	slices.SortFunc(participants, func(a, b Participant) int { return bytes.Compare(a.Leaf[:], b.Leaf[:]) })
}

func leavesOf(participants []Participant) []proof.Hash {
	leaves := make([]proof.Hash, len(participants))
	for i := range participants {
		leaves[i] = participants[i].Leaf
	}
	return leaves
}

// rootOf returns the root of participants, in hex.
func rootOf(participants []Participant) string {
	root := proof.Root(leavesOf(participants))
	return hex.EncodeToString(root[:])
}

// Winners returns the grants of a draw: each share goes to the participant at its place in the order of the draw.
func (d Draw) Winners() []Grant {
	if d.Book.Packet.Rain.Waves > 0 {
		return winnersOf(d.Waves)
	}
	order := proof.Order(d.Book.Seed, d.Book.Packet.From.ID, d.Book.Packet.Key, 0, leavesOf(d.Participants))
	var grants []Grant
	for share, i := range proof.Winners(order, len(d.Book.Shares)) {
		grants = append(grants, Grant{User: d.Participants[i].User, Share: share})
	}
	return grants
}

// Parts returns into how many shares the total of a draw is cut anew, or 0 if it is not.
func (p Packet) Parts(participants int) int {
	if p.Rest == RestShare && 0 < participants && participants < p.Count {
		return participants
	}
	return 0
}

// draw ends the entering of a draw and returns its grants.
func (f *flow) draw(ctx context.Context, p Ref, why CloseReason) (Closing, error) {
	d, err := f.ledger.Draw(ctx, DrawRequest{Ref: p, Why: why})
	switch {
	case err != nil:
		return Closing{}, err
	case d.Refused && why == CloseCancel:
		return Closing{}, ErrPacketFinished
	case d.Refused && len(d.Waves) == 0:
		return Closing{}, errNotDue
	case !d.Refused && d.Book.Status != Open:
		return Closing{Reason: d.Book.Status}, nil
	}
	crashpoint.Here("draw.after-root")
	if len(d.Waves) > 0 {
		if err := f.payWaves(ctx, p, &d); err != nil || d.Refused {
			return Closing{}, cmp.Or(err, errNotDue)
		}
	}
	closing := Closing{Reason: Expired, Grants: d.Winners()}
	if why == CloseCancel {
		closing.Reason = Cancelled
	}
	return closing, nil
}

const (
	drawAgain  = 250 * time.Millisecond // pause after which an instance tries again to draw
	drawOthers = time.Second            // an instance that did not send the draw leaves it so long to the one that did
)

// drawAtCutoff ends the draw when its window has ended, and after the delay. The backstop ends what is left. The database's clock says when
// the window has ended, so a first try may come too early.
func (s *Service) drawAtCutoff(k *cachedPacket, delay time.Duration) {
	if !k.timed.CompareAndSwap(false, true) {
		return
	}
	var try func()
	try = func() {
		if k.final.Load() == nil && s.o.Now().Before(k.packet.ExpiresAt.Add(delay+overdueBy)) && !s.background.stopping() {
			if k.drawing.CompareAndSwap(false, true) && !s.closeThen(k.packet.Ref, func() { k.drawing.Store(false) }) {
				k.drawing.Store(false)
			}
			time.AfterFunc(drawAgain, try)
		}
	}
	time.AfterFunc(k.packet.ExpiresAt.Sub(s.o.Now().Add(s.clocks.ledgerAhead()))+delay, try)
}

// enter lets a user enter a draw that is not known to have ended. A user that has entered before gets the same receipt, whatever the checks
// of the user find.
func (s *Service) enter(ctx context.Context, r GrabRequest, k *cachedPacket, standing chat.Standing, waited bool) (Result, error) {
	p := &k.packet
	delay := drawOthers
	if !p.OpensAt.IsZero() { // none has begun to wait when it was sent
		delay = 0
	}
	if p.Rain.Waves == 0 {
		s.drawAtCutoff(k, delay+rand.N(drawOthers)) //nolint:gosec // only spreads the instances
	}
	done, deny, err := s.receive(ctx, r.User, standing)
	if err != nil {
		return Result{}, err
	}
	done() // nothing is received before the draw
	if standing, err = s.confirmStanding(ctx, k, r.User, standing, waited); err != nil {
		return Result{}, err
	}
	if !standing.In {
		deny = outside(standing)
	} else if why := s.deny(ctx, p, r, standing); why != nil {
		deny = why
	}
	entrant := Entrant{User: r.User, Refused: deny != nil}
	if p.OnePerPerson {
		entrant.Person = p.personIn(r.Person, r.User)
	}
	e, err := s.entering.do(ctx, k, entrant)
	if err != nil {
		return Result{}, err
	}
	if e.Status != Open {
		return s.answerEnded(ctx, k, r.User, standing)
	}
	result := Result{Packet: p.ID, Count: p.Count, Participants: e.Participants, Wave: e.Wave}
	mine, entered := e.Entered[r.User]
	switch {
	case entered:
		result.Outcome, result.Receipt, result.At = OutcomeEntered, s.receipt(p.ID, &mine), mine.At
	case e.Early && standing.In:
		return Result{}, p.notYet()
	case deny != nil:
		return Result{}, deny
	case e.Elsewhere[r.User] != "":
		result.Outcome, result.Other = OutcomeElsewhere, e.Elsewhere[r.User]
	case p.Rain.Waves > 0:
		result.Outcome = OutcomeMissed
	default:
		result.Outcome = OutcomeExpired // the window has ended
	}
	return result, nil
}

// enterAll enters users that come at the same time, and counts the new participants.
func (s *Service) enterAll(ctx context.Context, k *cachedPacket, users []Entrant) (Entering, error) {
	e, err := s.ledger.Enter(ctx, k.packet.ID, users)
	crashpoint.Here("enter.after-commit")
	if err == nil && len(e.New) > 0 {
		s.progress.enter(k, e.Participants, e.New)
	}
	return e, err
}

// answerEnded answers a grab of a packet that has just been found to have ended. Many users may find that at once.
func (s *Service) answerEnded(ctx context.Context, k *cachedPacket, user string, standing chat.Standing) (Result, error) {
	if final := k.final.Load(); final != nil {
		return final.answer(&k.packet, user, standing)
	}
	final, err, _ := s.ends.Do(k.packet.ID, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
		defer cancel()
		book, err := s.ledger.Book(ctx, k.packet.ID)
		if err == nil && book.Status == Open {
			err = fmt.Errorf("packet %s had ended, and is open again: %w", k.packet.ID, chat.ErrUnavailable)
		}
		if err != nil {
			return nil, err
		}
		return s.memory.finish(book).final.Load(), nil
	})
	if err != nil {
		return Result{}, err
	}
	return final.(*finalState).answer(&k.packet, user, standing)
}
