package redpacket

import (
	"context"
	"errors"
	"strconv"

	"hongbao/chat"
)

// simFigure is a kind of harm that a schedule may have done.
type simFigure int

const (
	simOverpaid   simFigure = iota // packets: claims and refund over the total at any commit, or not equal to it at the end
	simStuck                       // packets still open long after their deadline, with all faults over
	simToldLost                    // people told of a claim that SQL does not have, or has otherwise
	simDouble                      // users or shares paid twice
	simLeft                        // claims that stay in the outbox for ever
	simRefused                     // people whom a Pool has ever granted a share, and who end without a claim
	simToldNo                      // people told empty or expired who have a claim in the end
	simForgotten                   // people told no when SQL had their claim already
	simOverClaims                  // packets cancelled though somebody has a claim
	simEarly                       // packets expired before their deadline
	simEnd
	simFigureCount
)

func (f simFigure) String() string {
	return [...]string{"overpaid", "stuck", "toldLost", "double", "left", "refused", "toldNo", "forgotten", "cancelOver", "early","end"}[f]
}

// always tells whether the figure is zero whatever happens; the others are so in strict classes.
func (f simFigure) always() bool { return f < simRefused }

type simCounts [simFigureCount]int

// simHeard is what was given and told so far, by packet and user.
type simHeard struct {
	granted [simMaxPackets][simMaxUsers]bool
	no      [simMaxPackets][simMaxUsers]bool
	share   [simMaxPackets][simMaxUsers]int // + 1, as told
}

// grab is one user's command. His client asks again when the answer is that the outcome is unknown.
func (w *simWorld) grab(p *simProcess) {
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	switch w.rng.IntN(20) {
	case 0:
		a.May = NotMember
	case 1:
		a.May = Denied
	}
	for range 3 {
		v, err := w.flow.grab(context.Background(), a)
		if p.dead {
			return
		}
		w.tell(p, v, err)
		if v.last {
			_, _ = w.flow.close(context.Background(), a.Ref, false)
		}
		if !errors.Is(err, chat.ErrUnavailable) || w.chance(3) || !w.pause(p) {
			return
		}
	}
}

// tell notes an answer that has reached its user.
func (w *simWorld) tell(p *simProcess, v grabbed, err error) {
	if w.trace != nil {
		w.note("told %q share %d, %v", v.outcome, v.paid.Share, err)
	}
	has := w.ledger.rows[p.packet].shareOf(simUser(p.user)) >= 0
	switch {
	case err != nil:
	case v.outcome == OutcomeWon || v.outcome == OutcomeAlready:
		told := &w.heard.share[p.packet][p.user]
		if *told != 0 && *told != v.paid.Share+1 {
			w.count[simToldLost]++
		}
		*told = v.paid.Share + 1
	default:
		w.heard.no[p.packet][p.user] = true
		if has {
			w.count[simForgotten]++
		}
	}
}

// askAgain is a grab long after the end: winners hear of their share for ever, members or not, and nobody else.
func (w *simWorld) askAgain(p *simProcess) {
	a := Attempt{Ref: simRef(p.packet), User: simUser(p.user)}
	had := w.ledger.rows[p.packet].shareOf(a.User)
	if had >= 0 {
		a.May = May(w.rng.IntN(3))
	}
	v, err := w.flow.grab(context.Background(), a)
	if had>=0&& (err!=nil || v.outcome!=OutcomeAlready) {w.count[simEnd]++}
	w.tell(p, v, err)
}

// settled counts what the background tasks have left undone.
func (w *simWorld) settled() {
	for i := range w.ledger.rows {
		if w.ledger.rows[i].status == Open {
			w.count[simStuck]++
		}
	}
	for _, e := range w.pool.main().outbox {
		w.count[simLeft] += len(e.claims)
	}
}

// judge counts the harm done.
func (w *simWorld) judge() {
	for packet := range w.ledger.rows {
		row := &w.ledger.rows[packet]
		if row.overpaid || row.status != Open && row.paid() != row.total {
			w.count[simOverpaid]++
		}
		if row.status == Cancelled && len(row.claims) > 0 {
			w.count[simOverClaims]++
		}
		for i, c := range row.claims {
			for _, d := range row.claims[:i] {
				if c.User == d.User || c.Share == d.Share {
					w.count[simDouble]++
				}
			}
		}
		for user := range w.users {
			has := row.shareOf(simUser(user))
			if has < 0 && w.heard.granted[packet][user] {
				w.count[simRefused]++
			}
			if has >= 0 && w.heard.no[packet][user] {
				w.count[simToldNo]++
			}
			if told := w.heard.share[packet][user]; told != 0 && told != has+1 {
				w.count[simToldLost]++
			}
		}
	}
}

// simWitness checks that the flow tells only what SQL has.
type simWitness struct{ w *simWorld }

func (s simWitness) paid(c Claim, settled Settlement) {
	if !s.w.running.dead && s.w.ledger.rows[simIndex(c.ID)].shareOf(c.User) != settled.Share {
		s.w.count[simToldLost]++
	}
}

func (s simWitness) closed(c Closed) {
	if !s.w.running.dead && s.w.ledger.rows[simIndex(c.Book.Packet.ID)].status == Open {
		s.w.count[simToldLost]++
	}
}

// How a trace names things.

func simEntryID(n int) string { return "e" + strconv.Itoa(n) }

func simAnswer(a Answer) string {
	s := [...]string{"missing", "yours", "outsider", "closed", "late", "empty", "denied", "busy", "granted"}[a.Decision]
	switch a.Decision {
	case Yours:
		s += " share " + strconv.Itoa(a.Share)
	case Granted:
		s += " share " + strconv.Itoa(a.Share) + " in " + a.Entry
		if a.Last {
			s += ", the last"
		}
	case IsClosed:
		s += " for " + string(a.Reason)
	}
	return s
}

var simVerdicts = [...]string{PaidNow: "paid", Duplicate: "duplicate", Conflict: "conflict", TooLate: "too late", Unknown: "unknown"}
