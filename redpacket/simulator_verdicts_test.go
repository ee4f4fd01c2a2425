package redpacket

import "context"

// simFigure is a kind of harm that a schedule may do. A schedule counts each occurrence.
type simFigure int

const (
	simOverpaid     simFigure = iota // packets that paid more than their total at any commit, or not exactly their total in the end
	simStuck                         // packets still open long after their deadline and after the last fault
	simAnsweredLost                  // users that were answered with a share that SQL does not have, or has with other values
	simDouble                        // users or shares paid twice
	simLeft                          // claims that stay in the outbox for ever
	simForgotten                     // winners that grab again after the end and are not answered "already"
	simHeld                          // packets of a deleted room that the backstop has not closed in the time that it had
	simTooSoon                       // grants before the packet opens
	simStolen                        // grants of shares that are held for another user
	simTwice                         // second shares of a person, in packets that pay one
	simDropped                       // waves whose root lacks an entry
	simRefused                       // users that a Pool granted a share and that have no claim in the end
	simAnsweredNo                    // users that were answered "empty" or "expired" and have a claim in the end
	simUnpaid                        // grants of open packets that recovery has not settled in the time that it had
	simOverClaims                    // packets cancelled although a user has a claim
	simEarly                         // packets expired before their deadline
	simFigureCount
)

func (f simFigure) String() string {
	return [...]string{"overpaid", "stuck", "answeredLost", "double", "left", "forgotten", "held", "tooSoon", "stolen", "twice", "dropped", "refused", "answeredNo", "unpaid", "cancelOver", "early"}[f]
}

// always reports whether this harm must never occur. The other kinds must not occur in strict classes.
func (f simFigure) always() bool { return f < simRefused }

type simCounts [simFigureCount]int

// simReported holds the grants and answers so far, by packet and user.
type simReported struct {
	granted [simMaxPackets][simMaxUsers]bool
	no      [simMaxPackets][simMaxUsers]bool
	share   [simMaxPackets][simMaxUsers]int // the share in the answer, plus 1; 0: none
}

// simSight is a situation that must occur in a class of schedules. Otherwise these schedules prove nothing.
type simSight int

const (
	simSawWon simSight = iota
	simSawAlready
	simSawEmpty
	simSawExpired
	simSawUnavailable
	simSawConflict
	simSawDrained
	simSawCancelled
	simSawUnsettled
	simSawQuarantined
	simSawDeleted
	simSawNotYet
	simSawHeld      // all free shares are held: in classes with holds
	simSawElsewhere // in classes with persons, like the next one
	simSawUnbound
	simSawEntered // in classes with rains, like the next one
	simSawWave
	simSightCount
)

func (s simSight) String() string {
	return [...]string{"won", "already", "empty", "expired", "unavailable", "conflict", "drained", "cancelled", "unsettled", "quarantined", "deleted", "not yet", "held", "elsewhere", "unbound", "entered", "wave"}[s]
}

type simSights [simSightCount]int

// recovered counts the grants of open packets that recovery should have settled by now, and the packets of a deleted
// room that the backstop should have closed.
func (w *simWorld) recovered() {
	for i := range w.ledger.rows {
		row, im := &w.ledger.rows[i], &w.pool.main().images[i]
		if row.status == Open && w.ledger.deleted {
			w.count[simHeld]++
		}
		for _, g := range im.grants() {
			if row.status == Open && row.shareOf(g.User) < 0 && !row.poison[simIndex(g.User)].was && row.binds(g.User) {
				w.count[simUnpaid]++
			}
		}
	}
}

// settled counts, at the end, packets that are still open and claims that are still in the outbox.
func (w *simWorld) settled() {
	for i := range w.ledger.rows {
		switch w.ledger.rows[i].status {
		case Open:
			w.count[simStuck]++
		case Drained:
			w.seen[simSawDrained]++
		case Cancelled:
			w.seen[simSawCancelled]++
		}
	}
	w.count[simLeft] += w.pool.main().waiting()
}

// judge counts the harm that the schedule has done.
func (w *simWorld) judge() {
	for packet := range w.ledger.rows {
		row := &w.ledger.rows[packet]
		if row.overpaid || row.status != Open && row.paid() != row.total {
			w.count[simOverpaid]++
		}
		if row.status == Cancelled && len(row.claims) > 0 {
			w.count[simOverClaims]++
		}
		w.judgeRain(row)
		w.judgePersons(row)
		for i, c := range row.claims {
			for _, d := range row.claims[:i] {
				if c.User == d.User && c.Wave == d.Wave || c.Share == d.Share {
					w.count[simDouble]++
				}
			}
		}
		for user := range w.users {
			has := row.shareOf(simUser(user))
			if has < 0 && w.reported.granted[packet][user] && !row.poison[user].forGood {
				w.count[simRefused]++
			}
			if has >= 0 && w.reported.no[packet][user] {
				w.count[simAnsweredNo]++
			}
			if answered := w.reported.share[packet][user]; answered != 0 && answered != has+1 {
				w.count[simAnsweredLost]++
			}
		}
	}
}

// simObserver is an observer that checks that SQL has what the flow reports.
type simObserver struct{ w *simWorld }

func (s simObserver) paid(_ context.Context, c Claim, settled Settlement) {
	if !s.w.running.dead && s.w.ledger.rows[simIndex(c.ID)].shareIn(c.User, c.Wave) != settled.Share {
		s.w.count[simAnsweredLost]++
	}
}

func (s simObserver) quarantined(Claim, string) {}
func (s simObserver) unsettled(Claim)           {}
func (s simObserver) endFailed(string, error)   {}

func (s simObserver) closed(c Closed) {
	if !s.w.running.dead && s.w.ledger.rows[simIndex(c.Book.Packet.ID)].status == Open {
		s.w.count[simAnsweredLost]++
	}
}
