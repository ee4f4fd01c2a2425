package chaos

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// record is what the server has acknowledged.
type record struct {
	mu          sync.Mutex // guards the fields below
	texts       []toldText
	packets     []toldPacket
	wins        map[win]told              // the first answer, or a later one if SQL may have lost that
	cancelled   map[string]told           // packets by id
	memberships map[membership]toldMember // absent: an answer is missing
	entered     map[entry]told            // answered with "entered"
	commitments map[string]string         // packets by the commitment to their seeds
	loss        told                      // between these times SQL may have acknowledged what it has lost; zero: never
	lost        []toldPacket              // of those that were acknowledged since the last check
	missing     map[string]bool           // packets by id that were answered not_found since the last check
	histories   map[string]*history       // of the packets since the last check, by id
	wrong       []string                  // answers that must not come
	outcomes    map[string]int            // number of grabs since the last check, by outcome
	lastTexts   map[string]toldText       // of each user
	lastPackets map[string]packet         // of each user, since the last check
	heard       map[string][]packet       // of each room, since the last check
}

type (
	// told is when a request began and when its answer came, in the time of now.
	told struct{ called, answered int64 }
	// toldText is a text that was acknowledged.
	toldText struct {
		told

		room, key, user, id string
		seq                 int64
	}
	// toldPacket is a packet that was acknowledged.
	toldPacket struct {
		told

		room, key, user, id string
		seq                 int64
	}
	// toldMember says whether a user is in a room.
	toldMember struct {
		told

		in bool
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
		id, room   string
		total      int64
		count      int
		expires    int64 // Unix milliseconds
		commitment string
		opens      int64 // Unix milliseconds; 0: at once
		window     int   // of a draw or rain, in seconds; 0: it is none
		rain       bool
		held       bool // shares are held, which the model of histories does not know
	}
	// entry is a user in a draw, or in a wave of a rain.
	entry struct {
		packet, user string
		wave         int
	}
)

// history is all that users did with a packet, and what they were answered.
type history struct {
	packet
	sent       int64 // when its sender asked first; 0: the answer is missing
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
		wins: map[win]told{}, cancelled: map[string]told{}, memberships: map[membership]toldMember{}, entered: map[entry]told{}, commitments: map[string]string{},
		lastTexts: map[string]toldText{},
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
	r.loss, r.lost, r.missing = told{}, nil, map[string]bool{}
}

// beginLoss says that SQL may lose what it acknowledges from now on.
func (r *record) beginLoss() { r.note(func() { r.loss = told{now(), math.MaxInt64} }) }

// endLoss says that SQL will lose nothing more.
func (r *record) endLoss() { r.note(func() { r.loss.answered = now() }) }

// mayBeLost reports whether SQL may have lost what was acknowledged. The caller holds r.mu.
func (r *record) mayBeLost(t told) bool {
	return r.loss != told{} && t.called < r.loss.answered && t.answered > r.loss.called
}

// winMayBeLost is mayBeLost for a share. Until an instance notices that SQL has gone back, it answers for finished packets from memory.
func (r *record) winMayBeLost(w win, t told) bool {
	if r.loss == (told{}) || t.answered < r.loss.called {
		return false
	}
	h := r.histories[w.packet]
	return h == nil || h.sent < r.loss.answered
}

// commit notes the commitment of a packet. The caller holds r.mu.
func (r *record) commit(p packet) {
	if before, ok := r.commitments[p.commitment]; ok && before != p.id {
		r.wrong = append(r.wrong, fmt.Sprintf("packets %s and %s have the same commitment, so the same seed", before, p.id))
	}
	r.commitments[p.commitment] = p.id
}

// mayLose reports whether SQL may have lost something since the last check.
func (r *record) mayLose() (may bool) {
	r.note(func() { may = r.loss != told{} })
	return may
}

// text notes that a text was acknowledged.
func (r *record) text(t toldText) {
	r.note(func() { r.texts = append(r.texts, t); r.lastTexts[t.user] = t })
}

// repeated notes that a text has another id or seq when it is sent again. SQL may have lost the first one.
func (r *record) repeated(first, second toldText) {
	lost := false
	r.note(func() { lost = r.mayBeLost(first.told) })
	if lost {
		r.text(second)
	} else {
		r.refused(fmt.Sprintf("text %+v was acknowledged, and is answered %+v when repeated", first, second))
	}
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
		r.noteWin(p, user, told{called, answered}, g)
	})
}

// heldGrabbed is grabbed for a packet that has no history.
func (r *record) heldGrabbed(p packet, user string, called int64, g model.Grab) {
	t := told{called, now()}
	r.note(func() { r.noteWin(p, user, t, g) })
}

// noteWin notes the share that a user was told to have. The caller holds r.mu.
func (r *record) noteWin(p packet, user string, t told, g model.Grab) {
	r.outcomes[g.Outcome]++
	if w := (win{p.id, user, g.Rank, g.Amount}); g.Outcome == model.Won || g.Outcome == model.Already {
		first, ok := r.wins[w]
		if !ok || r.winMayBeLost(w, first) { // what SQL may have lost may have been paid again
			r.wins[w] = t
		}
	}
}

// notYet notes that a grab came before its packet opens.
func (r *record) notYet(p packet) { r.note(func() { r.history(p).unanswered-- }) }

// packetOf returns what members hear of a packet.
func packetOf(room string, p wire.Packet) packet {
	return packet{
		id: p.ID, room: room, total: p.Total, count: p.Count, expires: p.ExpiresAt, commitment: p.Commitment,
		opens: p.OpensAt, window: cmp.Or(p.WindowS, p.OverS), rain: p.Waves > 0, held: p.Held > 0,
	}
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
			r.cancelled[p.id] = told{called, answered}
		}
		h.operations = append(h.operations, operation{user: user, kind: "cancel", called: called, answered: answered, outcome: outcome})
	})
}

// noteMissing notes if an answer says that there is no such packet.
func (r *record) noteMissing(p packet, err error) {
	if codeOf(err) == wire.CodeNotFound {
		r.note(func() { r.missing[p.id] = true })
	}
}

// refused notes an answer that must not come.
func (r *record) refused(what string) { r.note(func() { r.wrong = append(r.wrong, what) }) }
