package flaws

import (
	"context"
	"fmt"
	"sync"

	"hongbao/cmd/hongbao-bench/schemes"
)

// answers records what users were answered.
type answers struct {
	mu       sync.Mutex // guards all
	amounts  map[string]int64
	verdicts map[schemes.Verdict]int
	failed   int
	failure  error // the first error
	retries  int
}

func newAnswers() *answers {
	return &answers{amounts: map[string]int64{}, verdicts: map[schemes.Verdict]int{}}
}

func userNames(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("u%d", i))
	}
	return all
}

// grab lets one user grab and records the answer.
func (t *answers) grab(ctx context.Context, s schemes.Scheme, packet, user string) {
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
	t.verdicts[a.Verdict]++
	t.retries += a.Retries
	if a.Verdict == schemes.Got {
		t.amounts[user] = a.Amount
	}
}

// inTurn lets users grab one after the other.
func (t *answers) inTurn(ctx context.Context, s schemes.Scheme, packet string, users []string) {
	for _, u := range users {
		t.grab(ctx, s, packet, u)
	}
}

// atOnce starts the grabs of all users at the same time. The caller must wait for the returned group.
func (t *answers) atOnce(ctx context.Context, s schemes.Scheme, packet string, users []string) *sync.WaitGroup {
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() { t.grab(ctx, s, packet, u) })
	}
	return &all
}

// lost returns how many users were answered with a share that the book does not have as theirs, and the sum of these
// shares.
func (t *answers) lost(b schemes.Book) (users int, sum int64) {
	stored := map[string]int64{}
	for _, p := range b.Paid {
		stored[p.User] = p.Amount
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for user, amount := range t.amounts {
		if stored[user] != amount {
			users++
			sum += amount
		}
	}
	return users, sum
}

func (t *answers) sum() (all int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.amounts {
		all += a
	}
	return all
}
