package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine" // the checker of linearizability that others use for Go programs, too

	"hongbao/web/client/model"
)

// packetState is the state of one packet: what the pool and SQL together must look like from outside.
type packetState struct {
	ended  bool  // by a cancel or its deadline
	claims []win // in the order of ranks
}

// with returns the state with one more claim.
func (s packetState) with(w win) packetState {
	i, _ := slices.BinarySearchFunc(s.claims, w.rank, func(c win, rank int) int { return c.rank - rank })
	return packetState{s.ended, slices.Insert(slices.Clone(s.claims), i, w)}
}

// of returns the user's claim.
func (s packetState) of(user string) (win, bool) {
	i := slices.IndexFunc(s.claims, func(c win) bool { return c.user == user })
	if i < 0 {
		return win{}, false
	}
	return s.claims[i], true
}

func (s packetState) sum() (sum int64) {
	for _, c := range s.claims {
		sum += c.amount
	}
	return sum
}

// rules says what a fault may do to a packet.
type rules struct {
	// slack is how far the clocks may differ.
	slack time.Duration
	// lossy says that grants may have been forgotten by the pool or put into quarantine. Then "empty" may have come although such a grant
	// was never paid, and shares may be granted in another order than that of their ranks. A commit that is under way when the grant is
	// forgotten may end after the packet's end: the user may see "expired" before, and a cancel may succeed.
	lossy bool
	// steps says that the pool's clock may step back: "expired" may come although the deadline comes again.
	steps bool
}

// endsAgain reports whether shares may be paid although the packet has ended before.
func (r rules) endsAgain() bool { return r.lossy || r.steps }

func packetModel(p packet, r rules) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return packetState{} },
		Step: func(state, input, _ any) (bool, any) {
			s, o := state.(packetState), input.(operation)
			ok, next := s.step(p, o, r)
			return ok, next
		},
		Equal: func(a, b any) bool {
			x, y := a.(packetState), b.(packetState)
			return x.ended == y.ended && slices.Equal(x.claims, y.claims)
		},
	}
}

// step reports whether the operation may have its outcome in state s, and returns the state after it.
func (s packetState) step(p packet, o operation, r rules) (bool, packetState) {
	full := len(s.claims) == p.count
	switch o.kind {
	case "cancel":
		if o.outcome != "ok" {
			return true, s
		}
		return r.lossy || len(s.claims) == 0, packetState{true, s.claims} // a second cancel is answered like the first
	case "deadline":
		return true, packetState{true, s.claims}
	case "read":
		return slices.Equal(s.claims, o.claims), s
	}
	mine, has := s.of(o.user)
	switch o.outcome {
	case model.Won, model.Already:
		w := win{p.id, o.user, o.rank, o.amount}
		if has {
			return o.outcome == model.Already && mine == w, s
		}
		return (!s.ended || r.endsAgain()) && s.mayTake(p, w, r.lossy), s.with(w)
	case model.Empty:
		return !has && (full || r.lossy), s
	case model.Expired:
		return !has && s.ended, s
	}
	return false, s
}

// mayTake reports whether a share may be the next one that is taken.
func (s packetState) mayTake(p packet, w win, lossy bool) bool {
	if w.rank < 1 || w.rank > p.count || w.amount < 1 || !lossy && w.rank != len(s.claims)+1 {
		return false
	}
	if slices.ContainsFunc(s.claims, func(c win) bool { return c.rank == w.rank }) {
		return false
	}
	sum, last := s.sum()+w.amount, len(s.claims)+1 == p.count
	return sum < p.total && !last || sum == p.total && last
}

// stored is a packet as SQL has it in the end.
type stored struct {
	status          string
	expires, closed int64 // Unix milliseconds
	claims          []win // in the order of ranks
	granted         int   // number of shares that were paid or are in quarantine
}

// check reports why no order of the operations explains all answers and what SQL has in the end. undecided is true if that could
// not be found out in time.
func (h *history) check(s stored, r rules) (wrong string, undecided bool) {
	if s.granted == h.count && len(s.claims) < h.count {
		r.slack = time.Hour // all shares are granted, so the packet ends at once: those in quarantine are refunded
	}
	if s.status == "expired" && s.closed < s.expires-r.slack.Milliseconds() {
		return fmt.Sprintf("packet %s was closed %d ms before its deadline", h.id, s.expires-s.closed), false
	}
	if s.status == "cancelled" && len(s.claims) > 0 && !r.lossy {
		return fmt.Sprintf("packet %s was cancelled, and has claims: %+v", h.id, s.claims), false
	}
	end := now()
	operations := decidedTogether(slices.Clone(h.operations))
	if r.lossy {
		operations = append(operations, untold(operations, s.claims, end)...)
	}
	if s.status == "cancelled" {
		operations = acknowledgeCancel(operations)
	}
	deadline := instantOf(h.expires) - int64(r.slack)
	if !r.endsAgain() {
		deadline = max(deadline, lastWin(operations))
	}
	if deadline < end {
		operations = append(operations, operation{kind: "deadline", called: deadline, answered: end})
	}
	operations = append(operations, operation{kind: "read", called: end + 1, answered: end + 2, claims: s.claims})
	var list []porcupine.Operation
	for n, o := range operations {
		list = append(list, porcupine.Operation{ClientId: n, Input: o, Call: o.called, Return: o.answered})
	}
	switch porcupine.CheckOperationsTimeout(packetModel(h.packet, r), list, explainLimit) {
	case porcupine.Ok:
		return "", false
	case porcupine.Unknown:
		return "", true
	}
	return fmt.Sprintf("no order explains the answers of packet %+v (%s in SQL):%s", h.packet, s.status, describe(operations)), false
}

// explainLimit is how long the search for an order of one packet's operations may take.
const explainLimit = 5 * time.Second

// decidedTogether finds grabs of one user that were waiting for the outcome at once. One push decides them all, so each says "won".
// It counts as the answer to the first, and as "already" for the others.
func decidedTogether(operations []operation) []operation {
	for i := range operations {
		o := &operations[i]
		if o.outcome == model.Won && slices.ContainsFunc(operations, func(first operation) bool {
			return first.outcome == model.Won && first.user == o.user && first.rank == o.rank && first.called < o.called && o.called < first.answered
		}) {
			o.outcome = model.Already
		}
	}
	return operations
}

// untold returns a grab for each share that was paid although its user was only told "empty" or "expired". That may happen if the Pool
// has forgotten the grant while its commit was under way.
func untold(operations []operation, claims []win, end int64) (more []operation) {
	for _, w := range claims {
		mine := slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return o.user != w.user || o.kind != "grab" })
		told := slices.ContainsFunc(mine, func(o operation) bool { return o.outcome == model.Won || o.outcome == model.Already })
		if len(mine) > 0 && !told {
			more = append(more, operation{user: w.user, kind: "grab", called: mine[0].called, answered: end, outcome: model.Won, rank: w.rank, amount: w.amount})
		}
	}
	return more
}

// lastWin returns when the last of the winners grabbed first. The deadline passed later, because no share is granted after it. With
// this bound the search tries the grants before the deadline, and seldom has to go back.
func lastWin(operations []operation) (last int64) {
	first := map[string]int64{}
	for _, o := range operations {
		if o.outcome != model.Won && o.outcome != model.Already {
			continue
		}
		if called, ok := first[o.user]; !ok || o.called < called {
			first[o.user] = o.called
		}
	}
	for _, called := range first {
		last = max(last, called)
	}
	return last
}

// acknowledgeCancel makes the first cancel succeed if none did: its first try, which was not answered, has cancelled the packet,
// and the next one was refused.
func acknowledgeCancel(operations []operation) []operation {
	first := -1
	for i, o := range operations {
		if o.kind == "cancel" && o.outcome == "ok" {
			return operations
		}
		if o.kind == "cancel" && first < 0 {
			first = i
		}
	}
	if first >= 0 {
		operations[first].outcome = "ok"
	}
	return operations
}

func describe(operations []operation) string {
	var b strings.Builder
	slices.SortFunc(operations, func(a, b operation) int { return int((a.called - b.called) / 1000) })
	for _, o := range operations {
		fmt.Fprintf(&b, "\n\t%12.6f to %12.6f s  %-8s %s %s", time.Duration(o.called).Seconds(), time.Duration(o.answered).Seconds(), o.kind, o.user, o.outcome)
		if o.rank > 0 {
			fmt.Fprintf(&b, " rank %d amount %d", o.rank, o.amount)
		}
		for _, c := range o.claims {
			fmt.Fprintf(&b, "\n\t\trank %d amount %d %s", c.rank, c.amount, c.user)
		}
	}
	return b.String()
}
