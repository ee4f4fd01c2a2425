package redpacket

import (
	"context"
	"errors"

	"hongbao/chat"
)

// The bodies of the processes: the real flow, and around it what the service and its clients do.

func (w *simWorld) join(p *simProcess) { _ = w.flow.join(context.Background(), simRef(p.packet).ID) }

func (w *simWorld) cancel(p *simProcess) {
	_, err := w.flow.close(context.Background(), simRef(p.packet), true)
	if w.trace != nil && !p.dead {
		w.note("cancel ends: %v", err)
	}
}

func (w *simWorld) sweep(*simProcess) {
	due, _ := w.pool.Due(context.Background(), pageOfWork)
	for _, ref := range due {
		w.close(ref)
	}
}

func (w *simWorld) recover(*simProcess) {
	if w.mutant&simNoRecovery == 0 {
		_ = w.flow.recover(context.Background())
	}
}

func (w *simWorld) backstop(*simProcess) {
	if w.mutant&simNoBackstop == 0 {
		_ = w.flow.backstop(context.Background(), w.close)
	}
}

func (w *simWorld) close(ref Ref) { _, _ = w.flow.close(context.Background(), ref, false) }

// grab is one user's command. His client asks again, up to twice, when the outcome is unknown.
func (w *simWorld) grab(p *simProcess) {
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	switch w.rng.IntN(20) {
	case 0:
		a.May = NotMember
	case 1:
		a.May = Denied
	}
	for range 3 {
		v, err := w.flow.grab(context.Background(), a, ErrNotRecipient, nil)
		if p.dead {
			return
		}
		w.tell(p, v, err)
		if v.last {
			w.close(a.Ref)
		}
		if !errors.Is(err, chat.ErrUnavailable) || w.chance(3) || !w.pause(p) {
			return
		}
	}
}

// tell notes an answer that has reached its user.
func (w *simWorld) tell(p *simProcess, v grabbed, err error) {
	if w.trace != nil {
		w.note("told %q share %d, error %v", v.outcome, v.paid.Share, err)
	}
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		w.seen[simSawUnavailable]++
	case err != nil:
	case v.outcome == OutcomeEmpty:
		w.seen[simSawEmpty]++
		w.heard.no[p.packet][p.user] = true
	case v.outcome == OutcomeExpired:
		w.seen[simSawExpired]++
		w.heard.no[p.packet][p.user] = true
	default:
		if v.outcome == OutcomeWon {
			w.seen[simSawWon]++
		} else {
			w.seen[simSawAlready]++
		}
		told := &w.heard.share[p.packet][p.user]
		if *told != 0 && *told != v.paid.Share+1 {
			w.count[simToldLost]++
		}
		*told = v.paid.Share + 1
	}
}

// askAgain is a grab long after the end: winners hear of their share for ever, members or not, and nobody else.
func (w *simWorld) askAgain(p *simProcess) {
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	share := w.ledger.rows[p.packet].shareOf(a.User)
	if share >= 0 {
		a.May = May(w.rng.IntN(3))
	}
	v, err := w.flow.grab(context.Background(), a, ErrNotRecipient, nil)
	already := err == nil && v.outcome == OutcomeAlready && v.paid.Share == share
	switch {
	case already:
	case share >= 0:
		w.count[simForgotten]++
	case v.outcome == OutcomeWon || v.outcome == OutcomeAlready:
		w.count[simToldLost]++
	}
}
