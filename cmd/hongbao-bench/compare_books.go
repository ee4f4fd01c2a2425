package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
