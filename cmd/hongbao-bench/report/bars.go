package report

import "fmt"

// Bars are how much each does: a bar for each, and its ratio to one of them.
type Bars struct {
	Unit   string // of the values, as "grabs a second"
	Beside string // the name of the bar that is 1.00×; none: no ratios
	Bars   []Bar
}

// Bar is one of them. A value that is no number was not measured.
type Bar struct {
	Name  string
	Note  string // a few words under the name
	Value float64
	Ours  bool
}

func (b Bars) show(s *section) error {
	var values []float64
	base := 0.0
	for _, bar := range b.Bars {
		if bar.Value > 0 {
			values = append(values, bar.Value)
		}
		if bar.Name == b.Beside {
			base = bar.Value
		}
	}
	scale := newScale(values)
	s.Rows = &rows{Kind: "bars", Heads: []string{b.Unit}, Ticks: scale.axis(short), Note: scale.note()}
	if b.Beside != "" {
		if !measured(base) || base == 0 {
			return fmt.Errorf("nothing is known of %q, which the others are to stand beside", b.Beside)
		}
		s.Rows.Heads = append(s.Rows.Heads, "to "+b.Beside)
	}
	for _, bar := range b.Bars {
		r := row{Name: bar.Name, Note: bar.Note, Ours: bar.Ours, Cells: []string{Amount(bar.Value)}}
		if b.Beside != "" {
			r.Cells = append(r.Cells, Ratio(bar.Value/base))
		}
		if measured(bar.Value) && bar.Value > 0 {
			r.Marks = []share{scale.at(bar.Value)}
		}
		s.Rows.Rows = append(s.Rows.Rows, r)
	}
	return nil
}
