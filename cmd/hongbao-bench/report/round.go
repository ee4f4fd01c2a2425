package report

import "math"

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
