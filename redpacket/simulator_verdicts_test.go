package redpacket

// simFigure is a kind of harm that a schedule may have done.
type simFigure int

const (
	simOverpaid   simFigure = iota // packets: claims and refund over the total at any commit, or not equal to it at the end
	simStuck                       // packets still open long after their deadline, with all faults over
	simToldLost                    // people told of a claim that SQL does not have, or has otherwise
	simDouble                      // users or shares paid twice
	simLeft                        // claims that stay in the outbox for ever
	simForgotten                   // winners who ask again after the end and hear anything but "already"
	simRefused                     // people whom a Pool has ever granted a share, and who end without a claim
	simToldNo                      // people told empty or expired at some time who have a claim in the end
	simUnpaid                      // grants of open packets that SQL lacks when recovery has had its time
	simOverClaims                  // packets cancelled though somebody has a claim
	simEarly                       // packets expired before their deadline
	simFigureCount
)

func (f simFigure) String() string {
	return [...]string{"overpaid", "stuck", "toldLost", "double", "left", "forgotten", "refused", "toldNo", "unpaid", "cancelOver", "early"}[f]
}

// always tells whether the figure is zero whatever fails; the others are so in strict classes.
func (f simFigure) always() bool { return f < simRefused }

type simCounts [simFigureCount]int

// simHeard is what was given and told so far, by packet and user.
type simHeard struct {
	granted [simMaxPackets][simMaxUsers]bool
	no      [simMaxPackets][simMaxUsers]bool
	share   [simMaxPackets][simMaxUsers]int // + 1, as told
}

// simSight is something that must be seen in a class, or its schedules prove nothing.
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
	simSightCount
)

func (s simSight) String() string {
	return [...]string{"won", "already", "empty", "expired", "unavailable", "conflict", "drained", "cancelled"}[s]
}

type simSights [simSightCount]int

// recovered counts the grants that recovery has overlooked.
func (w *simWorld) recovered() {
	for i := range w.ledger.rows {
		row, im := &w.ledger.rows[i], &w.pool.main().images[i]
		for _, g := range im.grants() {
			if row.status == Open && row.shareOf(g.User) < 0 {
				w.count[simUnpaid]++
			}
		}
	}
}

// settled counts what the background tasks have left undone.
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
