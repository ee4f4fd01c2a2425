package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// none stands for a value that was not measured.
const none = "–"

// Amount formats a number with three significant digits and separators of thousands.
func Amount(v float64) string {
	switch {
	case !measured(v):
		return none
	case v >= 999.5:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return significant(v)
	}
}

// short formats a number beside an axis.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size*(1-1e-9) {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Duration formats a time for reports.
func Duration(d time.Duration) string { return duration(d.Seconds()) }

// duration formats a number of seconds.
func duration(seconds float64) string {
	switch {
	case !measured(seconds):
		return none
	case seconds == 0:
		return "0"
	case seconds < 999.5e-9:
		return significant(seconds*1e9) + " ns"
	case seconds < 999.5e-6:
		return significant(seconds*1e6) + " µs"
	case seconds < 999.5e-3:
		return significant(seconds*1e3) + " ms"
	case seconds < 120:
		return significant(seconds) + " s"
	default:
		return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
	}
}

// Ratio formats a ratio.
func Ratio(v float64) string {
	if !measured(v) {
		return none
	}
	if v > 0 && v < 0.095 {
		return strconv.FormatFloat(v, 'f', 1-int(math.Floor(math.Log10(v))), 64) + "×"
	}
	return fmt.Sprintf("%.2f×", v)
}

// significant formats a number with three significant digits, without trailing zeros.
func significant(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(v)+1e-9)))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
