package chaos

import (
	"sync"

	"hongbao/web/client/model"
)

// record is what the server has acknowledged.
type record struct {
	mu          sync.Mutex // guards the fields below
	texts       []toldText
	packets     []toldPacket
	wins        map[win]bool
	cancelled   map[string]bool     // packets by id
	memberships map[membership]bool // whether the user is in the room; absent: an answer is missing
	histories   map[string]*history // of the packets since the last check, by id
	wrong       []string            // answers that must not come
	outcomes    map[string]int      // number of grabs since the last check, by outcome
	lastTexts   map[string]toldText // of each user
	lastPackets map[string]packet   // of each user, since the last check
	heard       map[string][]packet // of each room, since the last check
}

type (
	// toldText is a text that was acknowledged.
	toldText struct {
		room, key, user, id string
		seq                 int64
	}
	// toldPacket is a packet that was acknowledged.
	toldPacket struct {
		room, key, user, id string
		seq                 int64
	}
	// win is a share that a user was told to have.
	win struct {
		packet, user string
		rank         int
		amount       int64
	}
	membership struct{ user, room string }
	// packet is what every member hears of a packet.
	packet struct {
		id, room string
		total    int64
		count    int
		expires  int64 // Unix milliseconds
	}
)

// history is all that users did with a packet, and what they were answered.
type history struct {
	packet
	operations []operation
	unanswered int // number of operations without a final answer
}

// operation is a request about a packet with its answer.
type operation struct {
	user     string // "": the deadline passes, or SQL is read
	kind     string // grab, cancel, deadline or read
	called   int64  // in the time of now
	answered int64
	outcome  string // of a grab: won, already, empty or expired. Of a cancel: ok or refused
	rank     int
	amount   int64
	claims   []win // of a read
}

func newRecord() *record {
	r := &record{
		wins: map[win]bool{}, cancelled: map[string]bool{}, memberships: map[membership]bool{}, lastTexts: map[string]toldText{},
	}
	r.forget()
	return r
}

// forget drops what belongs to one fault: the next one begins.
func (r *record) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.histories, r.outcomes = map[string]*history{}, map[string]int{}
	r.lastPackets, r.heard, r.wrong = map[string]packet{}, map[string][]packet{}, nil
}

func (r *record) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// history returns the history of a packet. The caller holds r.mu.
func (r *record) history(p packet) *history {
	h := r.histories[p.id]
	if h == nil {
		h = &history{packet: p}
		r.histories[p.id] = h
		r.heard[p.room] = append(r.heard[p.room], p)
	}
	return h
}

// begin notes that a user asks for something of a packet.
func (r *record) begin(p packet) { r.note(func() { r.history(p).unanswered++ }) }

// grabbed notes the answer to a grab.
func (r *record) grabbed(p packet, user string, called int64, g model.Grab) {
	answered := now()
	r.note(func() {
		h := r.history(p)
		h.unanswered--
		h.operations = append(h.operations, operation{
			user: user, kind: "grab", called: called, answered: answered, outcome: g.Outcome, rank: g.Rank, amount: g.Amount,
		})
		r.outcomes[g.Outcome]++
		if g.Outcome == model.Won || g.Outcome == model.Already {
			r.wins[win{p.id, user, g.Rank, g.Amount}] = true
		}
	})
}

// cancelAnswered notes the answer to a cancel.
func (r *record) cancelAnswered(p packet, user string, called int64, ok bool) {
	answered := now()
	r.note(func() {
		h := r.history(p)
		h.unanswered--
		outcome := "refused"
		if ok {
			outcome = "ok"
			r.cancelled[p.id] = true
		}
		h.operations = append(h.operations, operation{user: user, kind: "cancel", called: called, answered: answered, outcome: outcome})
	})
}

// refused notes an answer that must not come.
func (r *record) refused(what string) { r.note(func() { r.wrong = append(r.wrong, what) }) }
