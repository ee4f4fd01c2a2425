package report

import "fmt"

// Bars is a chart with a bar for each amount. It shows the ratio of each to one of them.
type Bars struct {
	Unit   string // of the values, such as "grabs a second"
	Beside string // name of the bar that is 1.00×; empty: no ratios
	Bars   []Bar
}

// Bar is one bar of a chart. A NaN value was not measured.
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
			return fmt.Errorf("there is no value of %q, which the ratios refer to", b.Beside)
		}
		s.Rows.Heads = append(s.Rows.Heads, "to "+b.Beside)
	}
	for _, bar := range b.Bars {
		r := row{Name: bar.Name, Note: bar.Note, Ours: bar.Ours, Cells: []string{Amount(bar.Value)}}
		if b.Beside != "" {
			r.Cells = append(r.Cells, Ratio(bar.Value/base))
		}
		if measured(bar.Value) && bar.Value > 0 {
			r.Marks = []position{scale.at(bar.Value)}
		}
		s.Rows.Rows = append(s.Rows.Rows, r)
	}
	return nil
}
