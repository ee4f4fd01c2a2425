package compare

import (
	"context"
	"log/slog"
	"slices"
	"testing"
)

// fakeTopic is a topic that records what the comparer does to it.
type fakeTopic struct {
	last   int64
	ended  bool
	learnt []int64
	resets int
}

func (*fakeTopic) Name() string          { return "room" }
func (t *fakeTopic) Last() (int64, bool) { return t.last, !t.ended }
func (t *fakeTopic) Learn(seq int64)     { t.learnt = append(t.learnt, seq) }
func (t *fakeTopic) Reset()              { t.resets++ }
func comparer(t *fakeTopic, seqs func() int64, wentBack *int) *Comparer[*fakeTopic] {
	return New(Options[*fakeTopic]{
		All: func() []*fakeTopic { return []*fakeTopic{t} }, Log: slog.New(slog.DiscardHandler), BusDown: func() bool { return false },
		LastSeqs: func(context.Context, []string) (map[string]int64, error) {
			return map[string]int64{"room": seqs()}, nil
		},
		WentBack: func(string, int64, int64) { *wentBack++ },
	})
}

// TestComparePart compares a topic with stores that are ahead of it, equal, and behind it. It must be reset only if it is ahead twice, and lives.
func TestComparePart(t *testing.T) {
	for _, test := range []struct {
		name     string
		seqs     []int64 // of the first comparison, and of the second
		endsIn   int     // the topic ends during this comparison; 0: never
		learnt   []int64
		wentBack int
	}{
		{"the store is ahead", []int64{7}, 0, []int64{7}, 0},
		{"both are equal", []int64{5}, 0, []int64{5}, 0},
		{"the store is behind once", []int64{4, 5}, 0, []int64{5}, 0},
		{"the store is behind twice", []int64{4, 4}, 0, nil, 1},
		{"the topic ends during the first comparison", []int64{4, 4}, 1, nil, 0},
		{"the topic ends during the second comparison", []int64{4, 4}, 2, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			topic, reads, wentBack := &fakeTopic{last: 5}, 0, 0
			c := comparer(topic, func() int64 {
				reads++
				topic.ended = reads == test.endsIn
				return test.seqs[reads-1]
			}, &wentBack)
			if err := c.comparePart(t.Context(), []*fakeTopic{topic}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(topic.learnt, test.learnt) || topic.resets != test.wentBack || wentBack != test.wentBack {
				t.Errorf("learnt %v, %d resets, %d losses reported; want %v and %d", topic.learnt, topic.resets, wentBack, test.learnt, test.wentBack)
			}
		})
	}
}
