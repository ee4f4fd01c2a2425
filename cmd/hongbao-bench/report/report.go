package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Report is the content of the page.
type Report struct {
	Title, Subtitle string
	Figures         []Figure // the main ones, at the top
	Hardware        []Fact
	Command         string // that repeats the measurement
	Sections        []Section
}

// Figure is one number that is shown in large type.
type Figure struct {
	Name, Value string
	Note        string  // a few words beside the number, such as what it is compared with
	Verdict     Verdict // if the figure has one
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Section is a picture with its explanation.
type Section struct {
	Title string
	Says  string // the explanation, in a sentence or two
	Body  Body
}

// Body is Bars, Latencies, Matrix or Table.
type Body interface {
	show(s *section) error
}

//go:embed page.html charts.html tables.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*"))

// section is a Section in the form of the template: one of its bodies is set.
type section struct {
	ID, Title, Says string

	Rows   *rows
	Matrix *grid
	Table  *Table
}

// Write writes the page.
func Write(w io.Writer, r Report) error {
	sections := make([]section, len(r.Sections))
	for i, s := range r.Sections {
		sections[i] = section{ID: fmt.Sprintf("s%d", i+1), Title: s.Title, Says: s.Says}
		if s.Body == nil {
			continue // text only
		}
		if err := s.Body.show(&sections[i]); err != nil {
			return fmt.Errorf("report: %q: %w", s.Title, err)
		}
	}
	return page.ExecuteTemplate(w, "page.html", struct {
		Report
		Sections []section
	}{r, sections})
}

// Table is text in rows and columns. The first column names its row.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// Column of a table.
type Column struct {
	Name   string
	Number bool // aligned to the right
}

func (t Table) show(s *section) error {
	for _, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return fmt.Errorf("a row of %d for %d columns", len(r), len(t.Columns))
		}
	}
	s.Table = &t
	return nil
}

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
