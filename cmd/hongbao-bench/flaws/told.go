package flaws

import (
	"context"
	"fmt"
	"sync"

	"hongbao/cmd/hongbao-bench/schemes"
)

// told is what people have heard.
type told struct {
	mu      sync.Mutex // guards all
	amounts map[string]int64
	heard   map[schemes.Verdict]int
	failed  int
	failure error // the first
	retries int
}

func newTold() *told { return &told{amounts: map[string]int64{}, heard: map[schemes.Verdict]int{}} }

func people(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("u%d", i))
	}
	return all
}

// grab has one user grab.
func (t *told) grab(ctx context.Context, s schemes.Scheme, packet, user string) {
	a, err := s.Grab(ctx, packet, user)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed++
		if t.failure == nil {
			t.failure = err
		}
		return
	}
	t.heard[a.Verdict]++
	t.retries += a.Retries
	if a.Verdict == schemes.Got {
		t.amounts[user] = a.Amount
	}
}

// inTurn has them grab one after the other.
func (t *told) inTurn(ctx context.Context, s schemes.Scheme, packet string, users []string) {
	for _, u := range users {
		t.grab(ctx, s, packet, u)
	}
}

// atOnce has them grab at once. Wait for all of them.
func (t *told) atOnce(ctx context.Context, s schemes.Scheme, packet string, users []string) *sync.WaitGroup {
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() { t.grab(ctx, s, packet, u) })
	}
	return &all
}

// lost are those who were told a share that is not stored as theirs.
func (t *told) lost(b schemes.Book) (users int, amount int64) {
	stored := map[string]int64{}
	for _, p := range b.Paid {
		stored[p.User] = p.Amount
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for user, told := range t.amounts {
		if stored[user] != told {
			users++
			amount += told
		}
	}
	return users, amount
}

func (t *told) sum() (all int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.amounts {
		all += a
	}
	return all
}
