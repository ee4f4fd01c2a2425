package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// tally is what was told to whom.
type tally struct {
	workload
	attempts []attempt
	heard    []heard        // by attempt
	won      []atomic.Int64 // so far, by packet
	begun    atomic.Int64
	played   measure.Round
}

// heard is an answer, or an error.
type heard struct {
	schemes.Answer
	at     time.Time // zero: not asked
	took   time.Duration
	err    error
	early  bool // no share, while it is certain that there were some
	closed bool // the process was killed before
}

func newTally(w workload) *tally {
	t := &tally{workload: w, attempts: w.attempts(), won: make([]atomic.Int64, w.packets)}
	t.heard = make([]heard, len(t.attempts))
	return t
}

func userName(n int) string { return "u" + strconv.Itoa(n) }

// play has the attempts made, until the budget is used up or there are no more.
func (t *tally) play(ctx context.Context, s schemes.Scheme, budget time.Duration) (err error) {
	t.played, err = measure.Crowd{Callers: t.callers, Budget: budget}.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= len(t.attempts) {
			return false, nil
		}
		t.begun.Add(1)
		t.heard[i] = t.grab(context.WithoutCancel(ctx), s, t.attempts[i])
		return true, nil // an error is an answer too
	})
	return err
}

func (t *tally) grab(ctx context.Context, s schemes.Scheme, a attempt) (h heard) {
	begin := time.Now()
	h.Answer, h.err = s.Grab(ctx, t.id(a.packet), userName(a.user))
	h.at = time.Now()
	h.took = h.at.Sub(begin)
	if h.err == nil && h.Verdict == schemes.Got {
		t.won[a.packet].Add(1)
	} else {
		// Whoever is decided and not answered yet is one of the callers.
		h.early = int(t.won[a.packet].Load())+t.callers <= t.shares
	}
	return h
}

// finished tells whether all attempts were made.
func (t *tally) finished() bool { return t.played.Done == len(t.attempts) }

// told is what each user of each packet has won, as he was told.
func (t *tally) told() map[attempt]int64 {
	told := map[attempt]int64{}
	for i, h := range t.heard {
		if h.err == nil && h.Verdict == schemes.Got && !h.closed {
			told[t.attempts[i]] += h.Amount
		}
	}
	return told
}

// outcome of the grabs, without verdicts.
func (t *tally) outcome(who schemes.Named) Outcome {
	o := Outcome{
		Scheme: who.Name, From: who.From, Decides: who.Decides, Stores: who.Stores,
		Callers: t.callers, Packets: t.packets, Shares: t.shares, Grabs: t.played.Done, Finished: t.finished(),
	}
	var took []time.Duration
	for _, h := range t.heard {
		if h.at.IsZero() {
			continue
		}
		took = append(took, h.took)
		o.Retries += h.Retries
		if h.err == nil && h.Verdict == schemes.Got {
			o.Won++
		}
	}
	o.GrabsPerSecond, o.Answers = float64(o.Won)/t.played.Took.Seconds(), t.played.Rate()
	slices.Sort(took)
	o.P50, o.P99, o.P999 = percentile(took, 0.5), percentile(took, 0.99), percentile(took, 0.999)
	return o
}

// percentile of sorted durations.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// refused says who got nothing although shares were left.
func (t *tally) refused() Check {
	has := t.told()
	nobody, errors := 0, 0
	why := map[string]int{}
	for i, h := range t.heard {
		if _, fine := has[t.attempts[i]]; fine || !h.early || h.at.IsZero() {
			continue
		}
		nobody++
		if h.err != nil {
			errors++
			if len(why) < 3 {
				why[strings.SplitN(h.err.Error(), " script:", 2)[0]]++
			}
			continue
		}
		why[strconv.Quote(string(h.Verdict))]++
	}
	c := Check{Name: checkLeft, Held: nobody == 0, Detail: "whoever asked while shares were left got one"}
	if nobody > 0 {
		var words []string
		for w := range why {
			words = append(words, w)
		}
		slices.Sort(words)
		c.Detail = fmt.Sprintf("%d grabs were refused while shares were left, %d of them by an error: %s", nobody, errors, strings.Join(words, "; "))
	}
	return c
}
