package redpacket

import (
	"context"
	"errors"

	"hongbao/chat"
)

// Each method here is the body of a process. It calls the real flow, and does what the service and its clients do
// around the flow.

func (w *simWorld) join(p *simProcess) {
	_ = w.flow.copyIntoPool(context.Background(), simRef(p.packet).ID)
}

func (w *simWorld) cancel(p *simProcess) {
	_, err := w.flow.close(context.Background(), w.ledger.ref(p.packet), CloseCancel)
	if w.trace != nil && !p.dead {
		w.note("cancel ends: %v", err)
	}
}

func (w *simWorld) sweep(*simProcess) {
	due, _ := w.pool.Due(context.Background(), pageOfWork)
	for _, ref := range due {
		w.close(ref)
	}
	for i := range w.ledger.rows {
		if w.ledger.rows[i].isRain() && w.ledger.rows[i].status == Open {
			w.close(w.ledger.ref(i)) // the sweep of the simulation also looks at the waves
		}
	}
}

func (w *simWorld) recover(p *simProcess) {
	if w.mutant&simNoRecovery == 0 {
		_ = w.recoveries[p.instance].run(context.Background())
	}
}

func (w *simWorld) backstop(*simProcess) {
	if w.mutant&simNoBackstop == 0 {
		_ = w.flow.backstop(context.Background(), w.close)
	}
	if w.mutant&(simNoBackstop|simDeletedNotListed) == 0 {
		rooms, _, _ := w.ledger.DeletedRooms(context.Background(), "", roomsPerPass)
		for _, room := range rooms {
			w.closeRoom(room)
		}
	}
}

// deleteRoom is the command by which the owner deletes the room. The instance that executes it closes the packets only
// if it learns that the deletion was committed.
func (w *simWorld) deleteRoom(p *simProcess) {
	if err := w.ledger.deleteRoom(); err == nil && !p.dead {
		w.closeRoom(simRoom)
	}
}

func (w *simWorld) closeRoom(room string) {
	_ = w.flow.closeRoom(context.Background(), room, func(packets []Ref) bool {
		for _, ref := range packets {
			_, _ = w.flow.close(context.Background(), ref, CloseEarly)
		}
		return true
	})
}

func (w *simWorld) close(ref Ref) { _, _ = w.flow.close(context.Background(), ref, CloseDue) }

// grab is the command by which one user grabs. When the outcome is unknown, the client repeats it up to twice.
func (w *simWorld) grab(p *simProcess) {
	if w.ledger.rows[p.packet].isRain() {
		w.enter(p)
		return
	}
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	switch w.rng.IntN(20) {
	case 0:
		a.May = NotMember
	case 1:
		a.May = Denied
	}
	for range 3 {
		v, err := w.grabOnce(a)
		if p.dead {
			return
		}
		w.report(p, v, err)
		if v.last {
			w.close(a.Ref)
		}
		if !errors.Is(err, chat.ErrUnavailable) || w.chance(3) || !w.pause(p) {
			return
		}
	}
}

// grabOnce grabs, of a packet that pays one share a person as the user's person.
func (w *simWorld) grabOnce(a Attempt) (grabbed, error) {
	if !w.ledger.rows[simIndex(a.ID)].persons.on {
		return w.flow.grab(context.Background(), a, ErrNotRecipient)
	}
	return w.flow.grabAs(context.Background(), a, ErrNotRecipient, func() (string, error) {
		person := simPerson(a.User)
		bound, err := w.ledger.BindPersons(context.Background(), a.ID, []Entrant{{User: a.User, Person: person}}, w.flow.now())
		return bound[person], err
	})
}

// report records an answer that a user has received.
func (w *simWorld) report(p *simProcess, v grabbed, err error) {
	if w.trace != nil {
		w.note("answered %q share %d, error %v", v.outcome, v.paid.Share, err)
	}
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		w.seen[simSawUnavailable]++
	case errors.Is(err, ErrNotYet):
		w.seen[simSawNotYet]++
	case err != nil:
	case v.outcome == OutcomeElsewhere:
		w.seen[simSawElsewhere]++
	case v.waiting > 0:
		w.seen[simSawHeld]++
	case v.outcome == OutcomeEmpty:
		w.seen[simSawEmpty]++
		w.reported.no[p.packet][p.user] = true
	case v.outcome == OutcomeExpired:
		w.seen[simSawExpired]++
		w.reported.no[p.packet][p.user] = true
	default:
		if v.outcome == OutcomeWon {
			w.seen[simSawWon]++
		} else {
			w.seen[simSawAlready]++
		}
		answered := &w.reported.share[p.packet][p.user]
		if *answered != 0 && *answered != v.paid.Share+1 {
			w.count[simAnsweredLost]++
		}
		*answered = v.paid.Share + 1
	}
}

// grabAgain grabs long after the packet's end. Winners must always get their share, even if they have left the room.
// No other user may get one.
func (w *simWorld) grabAgain(p *simProcess) {
	if w.ledger.rows[p.packet].isRain() {
		return
	}
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	share := w.ledger.rows[p.packet].shareOf(a.User)
	if share >= 0 {
		a.May = May(w.rng.IntN(3))
	}
	v, err := w.flow.grab(context.Background(), a, ErrNotRecipient)
	already := err == nil && v.outcome == OutcomeAlready && v.paid.Share == share
	switch {
	case already:
	case share >= 0:
		w.count[simForgotten]++
	case v.outcome == OutcomeWon || v.outcome == OutcomeAlready:
		w.count[simAnsweredLost]++
	}
}
