package report

import (
	"fmt"
	"math"
)

// wide is the ratio of the largest to the smallest value from which a scale of positive values is logarithmic. On a linear scale, small
// values could not be seen.
const wide = 30

// scale maps values to positions on an axis.
type scale struct {
	lo, hi float64
	log    bool
	ticks  []float64
}

// position is a position on an axis: 0 is its start, 1 its end.
type position float64

func (s position) String() string { return fmt.Sprintf("%.4g%%", 100*float64(s)) }

// newScale returns a scale that covers all values. It starts at zero, or is logarithmic if the values are far apart and all positive.
func newScale(values []float64) scale {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		if measured(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	switch {
	case most <= 0:
		return scale{hi: 1, ticks: []float64{0, 1}}
	case least > 0 && most/least >= wide:
		return newLogScale(least, most)
	}
	step := stepFor(most)
	s := scale{hi: math.Ceil(most/step-1e-9) * step}
	s.ticks = multiples(0, s.hi, step)
	return s
}

// newLogScale returns a logarithmic scale. It starts below the least value, so that the mark of that value is visible.
func newLogScale(least, most float64) scale {
	s := scale{lo: floor125(least / 1.5), hi: ceil125(most), log: true}
	for _, grain := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if s.ticks = s.decades(grain); len(s.ticks) <= 6 {
			return s
		}
	}
	every := (len(s.ticks) + 5) / 6
	var fewer []float64
	for i := 0; i < len(s.ticks); i += every {
		fewer = append(fewer, s.ticks[i])
	}
	s.ticks = fewer
	return s
}

// at returns the position of a value.
func (s scale) at(v float64) position {
	if s.log {
		v = max(v, s.lo)
		return position(math.Log(v/s.lo) / math.Log(s.hi/s.lo))
	}
	return position((v - s.lo) / (s.hi - s.lo))
}

// note explains the scale.
func (s scale) note() string {
	if s.log {
		return "Logarithmic scale: equal steps are equal ratios."
	}
	return ""
}

func (s scale) decades(grain []float64) []float64 {
	var ticks []float64
	for e := math.Floor(math.Log10(s.lo)); e <= math.Ceil(math.Log10(s.hi)); e++ {
		for _, g := range grain {
			if v := g * math.Pow(10, e); v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// stepFor returns a step that is 1, 2 or 5 times a power of ten. The length has at least 4 and less than 10 such steps.
func stepFor(length float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(length)))
	for _, g := range []float64{5, 2, 1, 0.5} {
		if length/(g*ten) >= 4-1e-9 {
			return g * ten
		}
	}
	return 0.2 * ten // length is at least ten
}

func multiples(from, to, step float64) []float64 {
	var ticks []float64
	for i := 0; from+float64(i)*step <= to*(1+1e-9); i++ {
		ticks = append(ticks, from+float64(i)*step)
	}
	return ticks
}

// measured reports whether a value is a valid number.
func measured(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 }

// floor125 returns the largest number that is not larger than v and is 1, 2 or 5 times a power of ten.
func floor125(v float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, g := range []float64{5, 2} {
		if v >= g*ten*(1-1e-9) {
			return g * ten
		}
	}
	return ten
}

// ceil125 returns the smallest number that is not smaller than v and is 1, 2 or 5 times a power of ten.
func ceil125(v float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, g := range []float64{1, 2, 5} {
		if v <= g*ten*(1+1e-9) {
			return g * ten
		}
	}
	return 10 * ten
}
