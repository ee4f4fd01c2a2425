package measure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// played is a side whose round n does done[n] things in a second, and records its name.
func played(name string, notes *[]string, done ...int) Side {
	return side(name, func(round int) (Round, error) {
		*notes = append(*notes, name)
		return Round{Done: done[round], Took: time.Second}, nil
	})
}

func side(name string, play func(round int) (Round, error)) Side {
	return Side{Name: name, Ready: func(_ context.Context, round int) (Play, error) {
		return func(context.Context) (Round, error) { return play(round) }, nil
	}}
}

func quiet(string, ...any) {}

func TestPlay(t *testing.T) {
	var notes []string
	m := Match{Name: "m", Unit: "grabs", Ours: played("ours", &notes, 500, 100, 300), Peer: played("peer", &notes, 90, 1000, 100), Asked: Asked{AtLeast: 3}}
	r, err := m.Play(t.Context(), 3, alone, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ours.Median != 300 || r.Peer.Median != 100 || r.Ratio != 3 || !r.Met {
		t.Errorf("%+v", r)
	}
	if want := []string{"ours", "peer", "peer", "ours", "ours", "peer"}; !slices.Equal(notes, want) {
		t.Errorf("played in the order %v, want %v", notes, want)
	}
	m.Asked.AtLeast = 3.01
	if r := m.result([]float64{300}, []float64{100}, nil, nil); r.Met {
		t.Error("3.00 is not 3.01")
	}
}

func TestPlayRefusesWrongResults(t *testing.T) {
	var notes []string
	wrong := errors.New("paid twice")
	for what, bad := range map[string]Side{
		"a wrong result": side("x", func(int) (Round, error) { return Round{Done: 1, Took: 1}, wrong }),
		"nothing":        side("x", func(int) (Round, error) { return Round{Took: time.Second}, nil }),
		"no beginning":   {Name: "x", Ready: func(context.Context, int) (Play, error) { return nil, wrong }},
	} {
		if _, err := (Match{Ours: played("ours", &notes, 1), Peer: bad}).Play(t.Context(), 1, alone, quiet); err == nil {
			t.Errorf("%s of the peer gives a figure", what)
		}
		if _, err := (Match{Ours: bad, Peer: played("peer", &notes, 1)}).Play(t.Context(), 1, alone, quiet); err == nil {
			t.Errorf("%s of ours gives a figure", what)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 100, 2, 3}, 3.5}} {
		if got := Median(c.figures); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.figures, got, c.want)
		}
	}
}

func TestCrowd(t *testing.T) {
	var seen [100]atomic.Int32
	r, err := Crowd{Callers: 8, Budget: time.Minute}.Call(t.Context(), func(_ context.Context, i int) (bool, error) {
		if i >= len(seen) {
			return false, nil
		}
		seen[i].Add(1)
		return true, nil
	})
	if err != nil || r.Done != len(seen) {
		t.Errorf("%+v, %v", r, err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Errorf("number %d was given %d times", i, n)
		}
	}
}

func TestCrowdEnds(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := Crowd{Callers: 4, Budget: time.Minute}.Call(t.Context(), func(_ context.Context, i int) (bool, error) {
		if i == 50 {
			return true, wrong
		}
		return true, nil
	})
	if !errors.Is(err, wrong) {
		t.Errorf("ended with %v", err)
	}
	r, err := Crowd{Callers: 4, Budget: 200 * time.Millisecond}.Call(t.Context(), func(context.Context, int) (bool, error) { return true, nil })
	if err != nil || r.Done == 0 || r.Took > 10*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	m := Match{Name: "hot packet", Ours: Side{Name: "pool"}, Peer: Side{Name: "lua-list"}, Asked: Asked{AtLeast: 2}}
	if err := Table(&b, []Result{m.result([]float64{10, 30, 20}, []float64{5}, []float64{7, 9, 8}, []float64{4}), m.result([]float64{9}, []float64{5}, nil, nil)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hot packet", "20 [10-30]", "4.00", ">= 2", "met", "NOT MET", "8.0, 4.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, b.String())
		}
	}
}
