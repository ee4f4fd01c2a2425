package measure

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Match is one comparison.
type Match struct {
	Name  string
	Unit  string // what is counted, in the plural
	Ours  Side
	Peer  Side
	Asked Asked
}

// Side is one of the two. Ready makes a round ready, which is not counted.
type Side struct {
	Name  string
	Ready func(ctx context.Context, round int) (Play, error)
}

// Play is one round. It checks its own result, and an error is that this is wrong, or could not be had.
type Play func(ctx context.Context) (Round, error)

// Round is what one round has done, and how long that took.
type Round struct {
	Done int
	Took time.Duration
}

// Rate is how many a second.
func (r Round) Rate() float64 { return float64(r.Done) / r.Took.Seconds() }

// Asked is what the ratio must be, ours to the peer's rate.
type Asked struct{ AtLeast float64 }

// Around is called around each round of our side, to profile it alone, say.
type Around func(play func() error) error

// Play plays the match: both sides in each round, and the other one begins in the next.
func (m Match) Play(ctx context.Context, rounds int, around Around, tell func(format string, args ...any)) (Result, error) {
	var ours, peer []float64
	for round := range rounds {
		sides := []func() error{
			func() error { return m.play(ctx, m.Ours, round, around, &ours) },
			func() error { return m.play(ctx, m.Peer, round, alone, &peer) },
		}
		if round%2 == 1 {
			sides[0], sides[1] = sides[1], sides[0]
		}
		for _, play := range sides {
			if err := play(); err != nil {
				return Result{}, err
			}
		}
		tell("%s, round %d of %d: %s %.0f %s/s, %s %.0f", m.Name, round+1, rounds, m.Ours.Name, ours[round], m.Unit, m.Peer.Name, peer[round])
	}
	return m.result(ours, peer), nil
}

func alone(play func() error) error { return play() }

func (m Match) play(ctx context.Context, s Side, round int, around Around, rates *[]float64) error {
	play, err := s.Ready(ctx, round)
	var r Round
	if err == nil {
		runtime.GC() // what was there before is not this round's to clear
		err = around(func() (err error) {
			r, err = play(ctx)
			return err
		})
	}
	if err == nil && (r.Done == 0 || r.Took <= 0) {
		err = fmt.Errorf("%d %s in %v are no figure", r.Done, m.Unit, r.Took)
	}
	if err != nil {
		return fmt.Errorf("%s, %s, round %d: %w", m.Name, s.Name, round+1, err)
	}
	*rates = append(*rates, r.Rate())
	return nil
}
