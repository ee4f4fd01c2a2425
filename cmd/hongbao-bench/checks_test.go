package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// fakePool is a pool that grants the shares that the test chooses.
type fakePool struct {
	mu    sync.Mutex
	n     int
	acked int
	give  func(n int) redpacket.Answer
	ack   error
}

func (p *fakePool) Grab(context.Context, []redpacket.Attempt) ([]redpacket.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	return []redpacket.Answer{p.give(p.n - 1)}, nil
}

func (*fakePool) Load(context.Context, redpacket.Image) error { return nil }

func (p *fakePool) Ack(_ context.Context, claims []redpacket.Claim) error {
	p.acked += len(claims)
	return p.ack
}

func granted(share int) redpacket.Answer {
	return redpacket.Answer{Decision: redpacket.Granted, Share: share, Entry: "1-1"}
}

// TestPoolRound checks that a round with a wrong result fails.
func TestPoolRound(t *testing.T) {
	for name, c := range map[string]struct {
		give func(n int) redpacket.Answer
		ack  error
		want string // text in the error; empty: no error
	}{
		"all shares":       {give: granted},
		"a share twice":    {give: func(n int) redpacket.Answer { return granted(n % 1999) }, want: "twice"},
		"no such share":    {give: func(n int) redpacket.Answer { return granted(n + 1) }, want: "does not exist"},
		"a gap":            {give: func(n int) redpacket.Answer { return granted(n * 2) }, want: "does not exist"},
		"refused too soon": {give: func(int) redpacket.Answer { return redpacket.Answer{Decision: redpacket.IsEmpty} }, want: "not granted"},
		"not acknowledged": {give: granted, ack: errors.New("no room"), want: "no room"},
	} {
		pool := &fakePool{give: c.give, ack: c.ack}
		r := newPoolRound(pool, batch{packets: 1, shares: 2000}, "p")
		played, err := r.play(t.Context(), measure.Crowd{Callers: 3, Budget: time.Minute})
		switch {
		case c.want == "" && (err != nil || played.Done != 2000 || pool.acked != 2000):
			t.Errorf("%s: %+v, %d acknowledged, %v", name, played, pool.acked, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPoolRoundFindsGaps(t *testing.T) {
	r := newPoolRound(nil, batch{packets: 2, shares: 3}, "p")
	r.marks[0][0].Store(true)
	r.marks[1][0].Store(true)
	r.marks[1][2].Store(true)
	if err := r.check(3); err == nil || !strings.Contains(err.Error(), "an earlier one") {
		t.Errorf("shares 0 and 2 of a packet: got %v, want an error about the gap", err)
	}
	r.marks[1][1].Store(true)
	if err := r.check(4); err != nil {
		t.Error(err)
	}
	if err := r.check(5); err == nil {
		t.Error("five grabs of four shares: no error")
	}
}

func TestPlaces(t *testing.T) {
	for _, b := range []batch{{packets: 7, shares: 100}, {packets: 7, shares: 100, inTurn: true}} {
		seen := map[string]bool{}
		for i := range b.all() {
			p, before := b.place(i)
			if p < 0 || p >= b.packets || before < 0 || before >= b.shares {
				t.Errorf("%+v: grab %d is number %d of packet %d", b, i, before, p)
			}
			for _, part := range []string{"share " + strconv.Itoa(before), "user " + strconv.Itoa(grabber(p, before, 150))} {
				if id := strconv.Itoa(p) + " " + part; seen[id] {
					t.Errorf("%+v: place returns %s twice", b, id)
				} else {
					seen[id] = true
				}
			}
		}
	}
}
