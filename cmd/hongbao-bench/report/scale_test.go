package report

import (
	"math"
	"slices"
	"testing"
)

func TestScale(t *testing.T) {
	for _, c := range []struct {
		values []float64
		lo, hi float64
		log    bool
		ticks  []float64
	}{
		{nil, 0, 1, false, []float64{0, 1}},
		{[]float64{0, 0}, 0, 1, false, []float64{0, 1}},
		{[]float64{3, 9.5}, 0, 10, false, []float64{0, 2, 4, 6, 8, 10}},
		{[]float64{10, 299}, 0, 300, false, []float64{0, 50, 100, 150, 200, 250, 300}},
		{[]float64{10, 301}, 5, 500, true, []float64{10, 30, 100, 300}},
		{[]float64{0, 301}, 0, 350, false, []float64{0, 50, 100, 150, 200, 250, 300, 350}},
		{[]float64{96, 1.4e6}, 50, 2e6, true, []float64{100, 1e3, 1e4, 1e5, 1e6}},
		{[]float64{1e-9, 1}, 5e-10, 1, true, []float64{1e-9, 1e-7, 1e-5, 1e-3, 0.1}},
		{[]float64{math.NaN(), math.Inf(1), -4, 2}, 0, 2, false, []float64{0, 0.5, 1, 1.5, 2}},
	} {
		s := newScale(c.values)
		same := slices.EqualFunc(s.ticks, c.ticks, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) })
		if s.log != c.log || math.Abs(s.lo-c.lo) > 1e-9*c.lo || math.Abs(s.hi-c.hi) > 1e-9*c.hi || !same {
			t.Errorf("%v: %+v", c.values, s)
		}
		for _, v := range c.values {
			if measured(v) && (s.at(v) < 0 || s.at(v) > 1+1e-9) {
				t.Errorf("%v of %v is at %v", v, c.values, s.at(v))
			}
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Amount(1234567.4), "1,234,567"}, {Amount(999.6), "1,000"}, {Amount(96.44), "96.4"}, {Amount(100), "100"},
		{Amount(0.012345), "0.0123"}, {Amount(0), "0"}, {Amount(math.NaN()), "–"}, {Amount(-1), "–"}, {Amount(12.0001), "12"},
		{short(5e5), "500k"}, {short(1e6), "1M"}, {short(0.5), "0.5"}, {short(100 * 1e7), "1G"},
		{duration(0), "0"}, {duration(690e-6), "690 µs"}, {duration(0.0019), "1.9 ms"}, {duration(0.9996), "1 s"}, {duration(12.34), "12.3 s"},
		{duration(125), "2m5s"}, {duration(5e-9), "5 ns"},
		{Ratio(1), "1.00×"}, {Ratio(19.158), "19.16×"}, {Ratio(0.0677), "0.068×"}, {Ratio(0.00286), "0.0029×"}, {Ratio(0.0949), "0.095×"}, {Ratio(0), "0.00×"}, {Ratio(math.Inf(1)), "–"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
