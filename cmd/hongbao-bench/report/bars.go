package report

import "fmt"

// Bars are how much each does: a bar for each, and its ratio to one of them.
type Bars struct {
	Unit   string // of the values, as "grabs a second"
	Beside string // the name of the bar that is 1.00×; none: no ratios
	Bars   []Bar
}

// Bar is one of them.
type Bar struct {
	Name  string
	Note  string // a few words under the name
	Value float64
	Ours  bool
}

func (b Bars) show(s *section) error {
	values := make([]float64, len(b.Bars))
	base := 0.0
	for i, bar := range b.Bars {
		values[i] = bar.Value
		if bar.Name == b.Beside {
			base = bar.Value
		}
	}
	if b.Beside != "" && base <= 0 {
		return fmt.Errorf("there is nothing to compare with: no %q", b.Beside)
	}
	scale := newScale(values)
	r := &rows{Kind: "bars", Heads: []string{b.Unit}, Axis: scale.axis(b.Unit, amount), Note: scale.note()}
	if b.Beside != "" {
		r.Heads = append(r.Heads, "to "+b.Beside)
	}
	for _, bar := range b.Bars {
		row := row{Name: bar.Name, Note: bar.Note, Ours: bar.Ours, Cells: []string{amount(bar.Value)}}
		if b.Beside != "" {
			row.Cells = append(row.Cells, ratio(bar.Value/base))
		}
		if measured(bar.Value) {
			row.Bar = scale.at(bar.Value)
		}
		r.Rows = append(r.Rows, row)
	}
	s.Rows = r
	return nil
}
