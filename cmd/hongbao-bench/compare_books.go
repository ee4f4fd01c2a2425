package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// books is what the database holds of the packets of a workload.
type books []schemes.Book

// readBooks reads the books from the database. It returns nil if the scheme's tables lack any of the packets: a scheme that
// stores nothing lacks all.
func readBooks(ctx context.Context, s schemes.Scheme, w workload) (books, error) {
	all := make(books, w.packets)
	var missing error
	var mu sync.Mutex // guards missing
	numbers := make([]int, w.packets)
	for i := range numbers {
		numbers[i] = i
	}
	err := each(ctx, numbers, func(ctx context.Context, n int) (err error) {
		all[n], err = s.Stored(ctx, w.id(n))
		if errors.Is(err, schemes.ErrNotFound) {
			mu.Lock()
			defer mu.Unlock()
			missing, err = err, nil
		}
		return err
	})
	if missing != nil {
		return nil, err
	}
	return all, err
}

func (b books) grabs() (n int) {
	for _, book := range b {
		n += len(book.Paid)
	}
	return n
}

// caughtUp reads the books until they have as many grabs as were acknowledged, but not longer than within. It returns the last
// books, and how long it took. If the scheme stores nothing, it returns nil after the first read.
func (t *tally) caughtUp(ctx context.Context, s schemes.Scheme, within time.Duration) (books, time.Duration, error) {
	acknowledged, begin := len(t.acknowledged()), time.Now()
	for {
		reading := time.Now()
		b, err := readBooks(ctx, s, t.workload)
		if err != nil || b == nil || b.grabs() >= acknowledged || time.Since(begin) > within {
			return b, time.Since(begin), err
		}
		select {
		case <-time.After(50*time.Millisecond + 2*time.Since(reading)): // a table does not announce its changes, so it is read again
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// money checks that no packet pays more than its sender gave, and that no money is missing. Without books, it checks only the
// amounts in the answers: they must not be more than the sender gave.
func (t *tally) money(packets []schemes.Packet, b books) Check {
	acknowledged := make([]int64, len(packets))
	for a, amount := range t.acknowledged() {
		acknowledged[a.packet] += amount
	}
	c := Check{Name: checkMoney, Held: true, Detail: "of every packet"}
	if b == nil {
		c.Detail = "by its answers; it stores nothing"
	}
	wrong, by := 0, int64(0)
	for n, p := range packets {
		off := max(0, acknowledged[n]-p.Total())
		if b != nil {
			sum := b[n].Left + b[n].Refunded
			for _, paid := range b[n].Paid {
				sum += paid.Amount
			}
			off = max(off, sum-p.Total(), p.Total()-sum)
		}
		if off > 0 {
			wrong++
			by += off
		}
	}
	if wrong > 0 {
		c.Held, c.Detail = false, fmt.Sprintf("%d of %d packets are wrong, by %d in total", wrong, len(packets), by)
	}
	return c
}

// twice checks that no user got two shares of one packet: neither in the answers to the grabs nor in the stored claims.
func (t *tally) twice(b books) Check {
	seen, twice := map[attempt]bool{}, 0
	for i, h := range t.responses {
		if h.err == nil && h.Verdict == schemes.Got {
			if seen[t.attempts[i]] {
				twice++
			}
			seen[t.attempts[i]] = true
		}
	}
	for _, book := range b {
		users := map[string]bool{}
		for _, p := range book.Paid {
			if users[p.User] {
				twice++
			}
			users[p.User] = true
		}
	}
	return Check{Name: checkTwice, Held: twice == 0, Detail: fmt.Sprintf("%d users have two shares", twice)}
}

// lost returns the number of acknowledged grabs that the books do not have with the acknowledged amount.
func (t *tally) lost(b books) (n int) {
	stored := map[attempt]int64{}
	users := map[string]int{}
	for i := range t.members() {
		users[userName(i)] = i
	}
	for packet, book := range b {
		for _, p := range book.Paid {
			stored[attempt{packet, users[p.User]}] += p.Amount
		}
	}
	for a, amount := range t.acknowledged() {
		if stored[a] != amount {
			n++
		}
	}
	return n
}

// tally records the answer to every grab of a workload.
type tally struct {
	workload
	attempts  []attempt
	responses []response     // by number of the attempt
	won       []atomic.Int64 // shares won so far, by packet
	begun     atomic.Int64
	played    measure.Round
}

// response is the answer to one grab, or its error.
type response struct {
	schemes.Answer
	at     time.Time // zero: not attempted
	took   time.Duration
	err    error
	early  bool // no share was given, although some were certainly free
	closed bool // the process was killed before this answer
}

func newTally(w workload) *tally {
	t := &tally{workload: w, attempts: w.attempts(), won: make([]atomic.Int64, w.packets)}
	t.responses = make([]response, len(t.attempts))
	return t
}

func userName(n int) string { return "u" + strconv.Itoa(n) }

// play makes the attempts of the workload until none is left or the time budget is used up.
func (t *tally) play(ctx context.Context, s schemes.Scheme, budget time.Duration) (err error) {
	t.played, err = measure.Crowd{Callers: t.callers, Budget: budget}.Call(ctx, func(ctx context.Context, i int) (bool, error) {
		if i >= len(t.attempts) {
			return false, nil
		}
		t.begun.Add(1)
		t.responses[i] = t.grab(context.WithoutCancel(ctx), s, t.attempts[i])
		return true, nil // an error is an answer too
	})
	return err
}

func (t *tally) grab(ctx context.Context, s schemes.Scheme, a attempt) (h response) {
	begin := time.Now()
	h.Answer, h.err = s.Grab(ctx, t.id(a.packet), userName(a.user))
	h.at = time.Now()
	h.took = h.at.Sub(begin)
	if h.err == nil && h.Verdict == schemes.Got {
		t.won[a.packet].Add(1)
	} else {
		// Each other caller may have one grab that has got a share and is not counted yet.
		h.early = int(t.won[a.packet].Load())+t.callers <= t.shares
	}
	return h
}

// finished reports whether all attempts were made.
func (t *tally) finished() bool { return t.played.Done == len(t.attempts) }

// acknowledged returns, by user and packet, the amounts that the answers have promised. It leaves out answers after the kill.
func (t *tally) acknowledged() map[attempt]int64 {
	acknowledged := map[attempt]int64{}
	for i, h := range t.responses {
		if h.err == nil && h.Verdict == schemes.Got && !h.closed {
			acknowledged[t.attempts[i]] += h.Amount
		}
	}
	return acknowledged
}

// outcome returns an Outcome with the figures of the grabs and without checks.
func (t *tally) outcome(scheme schemes.Named) Outcome {
	o := Outcome{
		Scheme: scheme.Name, From: scheme.From, Decides: scheme.Decides, Stores: scheme.Stores,
		Callers: t.callers, Packets: t.packets, Shares: t.shares, Grabs: t.played.Done, Finished: t.finished(), took: t.played.Took,
	}
	var took []time.Duration
	for _, h := range t.responses {
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

// percentile returns a percentile of sorted durations.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// refused checks that no grab was refused while shares were left.
func (t *tally) refused() Check {
	has := t.acknowledged()
	refusals, errors := 0, 0
	why := map[string]int{}
	for i, h := range t.responses {
		if _, fine := has[t.attempts[i]]; fine || !h.early || h.at.IsZero() {
			continue
		}
		refusals++
		if h.err != nil {
			errors++
			if len(why) < 3 {
				why[strings.SplitN(h.err.Error(), " script:", 2)[0]]++
			}
			continue
		}
		why[strconv.Quote(string(h.Verdict))]++
	}
	c := Check{Name: checkLeft, Held: refusals == 0, Detail: "every grab got a share while shares were left"}
	if refusals > 0 {
		var words []string
		for w := range why {
			words = append(words, w)
		}
		slices.Sort(words)
		c.Detail = fmt.Sprintf("%d grabs were refused while shares were left, %d of them by an error: %s", refusals, errors, strings.Join(words, "; "))
	}
	return c
}
