package report

import (
	"math"
	"slices"
)

// The largest numbers of groups in a drawing and in a table: more could not be seen, or would not be read.
const (
	drawn     = 240
	tabulated = 24
)

// group is a set of neighbouring points of all lines.
type group struct {
	from, to float64
	means    []float64 // one for each line; NaN where it has no point
}

// groups puts all points into at most so many groups, each with the same number of X values.
func (l Lines) groups(most int) []group {
	var xs []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			if !math.IsNaN(p.X) && !math.IsInf(p.X, 0) {
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	var all []group
	for part := range slices.Chunk(xs, max(1, (len(xs)+most-1)/most)) {
		g := group{from: part[0], to: part[len(part)-1]}
		for _, s := range l.Series {
			g.means = append(g.means, s.mean(g.from, g.to))
		}
		all = append(all, g)
	}
	return all
}

// mean of the values between from and to.
func (s Series) mean(from, to float64) float64 {
	sum, n := 0.0, 0.0
	first, _ := slices.BinarySearchFunc(s.Points, from, func(p Point, x float64) int {
		if p.X < x {
			return -1
		}
		return 1
	})
	for _, p := range s.Points[first:] {
		if p.X > to {
			break
		}
		if measured(p.Y) {
			sum, n = sum+p.Y, n+1
		}
	}
	return sum / n
}

func (g group) name(value func(float64) string) string {
	if g.from == g.to {
		return value(g.from)
	}
	return value(g.from) + " – " + value(g.to)
}
