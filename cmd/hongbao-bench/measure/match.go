package measure

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Match compares two sides: ours and a peer.
type Match struct {
	Name  string
	Unit  string // the counted things, in the plural
	Ours  Side
	Peer  Side
	Asked Asked
}

// Side is one of the two sides of a match. Ready prepares a round, and its time does not count.
type Side struct {
	Name  string
	Ready func(ctx context.Context, round int) (Play, error)
}

// Play runs one round of a side. It checks its own result, and returns an error if the result is wrong.
type Play func(ctx context.Context) (Round, error)

// Round is the work of one round, and the time that it took.
type Round struct {
	Done int
	Took time.Duration
	CPU  time.Duration // of all processes, with the check of the result; 0: not known
}

// Rate returns the work done in one second.
func (r Round) Rate() float64 { return float64(r.Done) / r.Took.Seconds() }

// Asked is the least ratio of our rate to the peer's that is accepted.
type Asked struct{ AtLeast float64 }

// Around is called around each round of our side, for example to profile it.
type Around func(play func() error) error

// Play runs the rounds of the match. Each round runs both sides, in the other order than the round before.
func (m Match) Play(ctx context.Context, rounds int, around Around, tell func(format string, args ...any)) (Result, error) {
	var ours, peer, ourCPU, peerCPU []float64
	for round := range rounds {
		sides := []func() error{
			func() error { return m.play(ctx, m.Ours, round, around, &ours, &ourCPU) },
			func() error { return m.play(ctx, m.Peer, round, alone, &peer, &peerCPU) },
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
	return m.result(ours, peer, ourCPU, peerCPU), nil
}

func alone(play func() error) error { return play() }

func (m Match) play(ctx context.Context, s Side, round int, around Around, rates, cpu *[]float64) error {
	play, err := s.Ready(ctx, round)
	var r Round
	if err == nil {
		runtime.GC() // earlier garbage must not burden this round
		err = around(func() (err error) {
			r, err = play(ctx)
			return err
		})
	}
	if err == nil && (r.Done == 0 || r.Took <= 0) {
		err = fmt.Errorf("%d %s in %v are not a valid figure", r.Done, m.Unit, r.Took)
	}
	if err != nil {
		return fmt.Errorf("%s, %s, round %d: %w", m.Name, s.Name, round+1, err)
	}
	*rates = append(*rates, r.Rate())
	if r.CPU > 0 {
		*cpu = append(*cpu, float64(r.CPU.Nanoseconds())/1000/float64(r.Done))
	}
	return nil
}
