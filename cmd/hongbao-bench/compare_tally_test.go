package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// newTestTally makes a tally of two packets of two shares of 100 each. The answers are, in order, to user 0 for packet
// 0, user 0 for packet 1, user 1 for packet 0, and so on.
func newTestTally(t *testing.T, all ...response) (*tally, []schemes.Packet) {
	w := workload{name: "p", callers: 1, packets: 2, shares: 2, grabbers: 3, mean: 100, seed: 1}
	packets, err := w.all()
	if err != nil {
		t.Fatal(err)
	}
	c := &tally{workload: w, responses: all, played: measure.Round{Done: len(all), Took: time.Second}}
	for i := range all {
		all[i].at = time.Now()
		c.attempts = append(c.attempts, attempt{i % 2, i / 2}) // user 0 grabs packets 0 and 1, then user 1 grabs both ...
	}
	return c, packets
}

func won(amount int64) response {
	return response{Answer: schemes.Answer{Verdict: schemes.Got, Amount: amount}}
}

func none(v schemes.Verdict, early bool) response {
	return response{Answer: schemes.Answer{Verdict: v}, early: early}
}

func stored(left, refunded int64, paid ...schemes.Paid) schemes.Book {
	return schemes.Book{Left: left, Refunded: refunded, Paid: paid}
}

func TestVerdicts(t *testing.T) {
	u0, u1 := schemes.Paid{User: "u0", Amount: 70}, schemes.Paid{User: "u1", Amount: 130}
	all := []response{won(70), won(70), won(130), won(130), none(schemes.Gone, false), none(schemes.Gone, false)}
	right := func() books { return books{stored(0, 0, u0, u1), stored(0, 0, u1, u0)} }
	for name, c := range map[string]struct {
		change func(t *tally, b books)
		broken string // name of the check that must fail; empty: none
	}{
		"all is well":          {change: func(*tally, books) {}},
		"left and refunded":    {change: func(t *tally, b books) { t.responses[2], b[0] = none(schemes.Gone, false), stored(30, 100, u0) }},
		"too much is stored":   {change: func(_ *tally, b books) { b[1].Left = 1 }, broken: checkMoney},
		"too much is answered": {change: func(t *tally, _ books) { t.responses[3].Amount = 131 }, broken: checkMoney},
		"money is gone":        {change: func(t *tally, b books) { t.responses[2], b[0] = none(schemes.Gone, false), stored(129, 0, u0) }, broken: checkMoney},
		"answered twice":       {change: func(t *tally, _ books) { t.attempts[2].user = 0 }, broken: checkTwice},
		"stored twice":         {change: func(_ *tally, b books) { b[0] = stored(60, 0, u0, u0) }, broken: checkTwice},
		"not stored":           {change: func(_ *tally, b books) { b[0] = stored(130, 0, u0) }, broken: checkStored},
		"stored another":       {change: func(_ *tally, b books) { b[1].Paid[0].Amount, b[1].Paid[1].Amount = 70, 130 }, broken: checkStored},
		"refused too early":    {change: func(t *tally, _ books) { t.responses[4] = none(schemes.GaveUp, true) }, broken: checkLeft},
		"an error too early": {change: func(t *tally, _ books) {
			t.responses[4] = response{early: true, at: time.Now(), err: errors.New("empty")}
		}, broken: checkLeft},
		"has one, is refused": {change: func(t *tally, _ books) { t.responses[4], t.attempts[4] = none(schemes.Nothing, true), attempt{0, 0} }},
	} {
		tl, packets := newTestTally(t, append([]response(nil), all...)...)
		b := right()
		for i := range b {
			b[i].Paid = append([]schemes.Paid(nil), b[i].Paid...)
		}
		b[1].Paid[0].Amount, b[1].Paid[1].Amount = 130, 70
		c.change(tl, b)
		for i := range tl.responses {
			tl.responses[i].at = time.Now()
		}
		var broken []string
		for _, check := range []Check{tl.money(packets, b), tl.twice(b), tl.stored(b, 0), tl.refused()} {
			if check.Detail == "" {
				t.Errorf("%s: check %s has no detail", name, check.Name)
			}
			if !check.Held {
				broken = append(broken, check.Name)
			}
		}
		if c.broken == "" && len(broken) > 0 || c.broken != "" && !strings.Contains(strings.Join(broken, ","), c.broken) {
			t.Errorf("%s: failed checks %v, want %q", name, broken, c.broken)
		}
	}
}

func TestAnswersAfterAKillDoNotCount(t *testing.T) {
	tl, _ := newTestTally(t, won(70), won(70))
	tl.responses[1].closed = true
	if acknowledged := tl.acknowledged(); len(acknowledged) != 1 || acknowledged[attempt{0, 0}] != 70 {
		t.Errorf("told: %v", acknowledged)
	}
}

func TestOutcomeFigures(t *testing.T) {
	var all []response
	for i := range 1000 {
		h := won(1)
		h.took, h.Retries = time.Duration(i+1)*time.Millisecond, 2
		if i%2 == 1 {
			h.Verdict = schemes.Gone
		}
		all = append(all, h)
	}
	tl, _ := newTestTally(t, all...)
	tl.attempts = append(tl.attempts, attempt{0, 0}) // one attempt more than were made
	o := tl.outcome(schemes.Named{Name: "x"})
	if o.Won != 500 || o.GrabsPerSecond != 500 || o.Answers != 1000 || o.Retries != 2000 || o.Finished ||
		o.P50 != 501*time.Millisecond || o.P99 != 991*time.Millisecond || o.P999 != time.Second {
		t.Errorf("%+v", o)
	}
}

func TestAttempts(t *testing.T) {
	w := workload{packets: 3, shares: 50, grabbers: 200, seed: 7}
	all := w.attempts()
	seen := map[attempt]int{}
	for _, a := range all {
		seen[a]++
	}
	if len(seen) != 600 || len(all) < 604 || len(all) > 640 {
		t.Errorf("%d attempts of %d users", len(all), len(seen))
	}
	for i := range all[:len(all)-100] { // callers at about the same time
		same := 0
		for _, later := range all[i+1 : i+100] {
			if later.user == all[i].user && later != all[i] {
				same++
			}
		}
		if same > 0 {
			t.Fatalf("attempt %d: %d of the next 99 are of the same user %d and other packets", i, same, all[i].user)
		}
	}
	again := w.attempts()
	for i := range all {
		if all[i] != again[i] {
			t.Fatal("the same seed repeats other grabs")
		}
	}
	w.mean = 100
	one, err := w.packet(1)
	if err != nil || one.Total() != 5000 || len(one.Shares) != 50 {
		t.Errorf("%+v, %v", one, err)
	}
	if same, _ := w.packet(1); same.Shares[0] != one.Shares[0] || same.Shares[49] != one.Shares[49] {
		t.Error("the same seed cuts other shares")
	}
}
