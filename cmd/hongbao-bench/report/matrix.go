package report

import (
	"fmt"
)

// Matrix shows checks: a row for each item, a column for each check. If too many checks do not fit side by side, and there are fewer
// items than checks, rows and columns change places.
type Matrix struct {
	Checks []string
	Rows   []Verdicts
	Brief  bool // details are in a table below, so that all verdicts are seen at once
}

// Verdicts of one item, in the order of the checks.
type Verdicts struct {
	Name  string
	Note  string
	Ours  bool
	Cells []Cell
}

// Cell is one verdict with its detail.
type Cell struct {
	Verdict Verdict
	Detail  string
}

// Verdict of a check.
type Verdict int

// The verdicts. Unchecked: the check does not apply, or was not made.
const (
	Unchecked Verdict = iota
	Held
	Broken
)

// Of returns Held or Broken.
func Of(held bool) Verdict {
	if held {
		return Held
	}
	return Broken
}

func (v Verdict) String() string {
	switch v {
	case Held:
		return "held"
	case Broken:
		return "broken"
	default:
		return "not checked"
	}
}

func (m Matrix) show(s *section) error {
	for _, r := range m.Rows {
		if len(r.Cells) != len(m.Checks) {
			return fmt.Errorf("%s has %d verdicts for %d checks", r.Name, len(r.Cells), len(m.Checks))
		}
	}
	s.Matrix = &grid{Heads: m.Checks, Rows: m.Rows, Brief: m.Brief}
	if len(m.Checks) > fitting && len(m.Rows) < len(m.Checks) {
		s.Matrix.flip()
	}
	if m.Brief {
		s.Matrix.Seen = m.seen()
	}
	return nil
}

// seen returns all details, for the table below.
func (m Matrix) seen() Table {
	t := Table{Columns: []Column{{Name: "of"}, {Name: "check"}, {Name: "verdict"}, {Name: "detail"}}}
	for _, r := range m.Rows {
		for i, c := range r.Cells {
			if c.Detail != "" {
				t.Rows = append(t.Rows, []string{r.Name, m.Checks[i], c.Verdict.String(), c.Detail})
			}
		}
	}
	return t
}

// Class returns the verdict's CSS class.
func (v Verdict) Class() string {
	switch v {
	case Held:
		return "held"
	case Broken:
		return "broken"
	default:
		return "unchecked"
	}
}

// Sign returns the SVG path of the sign beside the word: a tick, a cross or a dash.
func (v Verdict) Sign() string {
	switch v {
	case Held:
		return "M3 8.5l3.5 3.5L13 4.5"
	case Broken:
		return "M4 4l8 8M12 4l-8 8"
	default:
		return "M4 8h8"
	}
}

// fitting is the largest number of columns of verdicts that fit side by side.
const fitting = 7

// grid is a Matrix as it is shown.
type grid struct {
	Heads []string
	Rows  []Verdicts
	Brief bool
	Seen  Table
}

// flip turns the rows into columns. Their notes do not fit over columns.
func (g *grid) flip() {
	heads := make([]string, len(g.Rows))
	rows := make([]Verdicts, len(g.Heads))
	for i, name := range g.Heads {
		rows[i] = Verdicts{Name: name, Cells: make([]Cell, len(g.Rows))}
	}
	for at, r := range g.Rows {
		heads[at] = r.Name
		for i, c := range r.Cells {
			rows[i].Cells[at] = c
		}
	}
	g.Heads, g.Rows = heads, rows
}
