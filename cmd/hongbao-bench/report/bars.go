package report

import (
	"fmt"
	"time"
)

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

// rows is a table in which one column is a picture: bars, or the dots of latencies.
type rows struct {
	Kind  string
	Heads []string // of the columns with figures
	Rows  []row
	Ticks []tick
	Note  string
}

// row is one row of rows.
type row struct {
	Name, Note string
	Ours       bool
	Cells      []string
	Marks      []position // positions of its values; empty: nothing is drawn
}

// tick is a marked value of an axis.
type tick struct {
	At    position
	Label string
	Side  string // alignment of the text
}

// axis returns the ticks of a scale from left to right. Labels at the ends of the axis do not reach beyond it.
func (s scale) axis(label func(float64) string) []tick {
	ticks := make([]tick, len(s.ticks))
	for i, v := range s.ticks {
		ticks[i] = tick{At: s.at(v), Label: label(v), Side: "middle"}
		switch {
		case ticks[i].At < 0.04:
			ticks[i].Side = "start"
		case ticks[i].At > 0.96:
			ticks[i].Side = "end"
		}
	}
	return ticks
}

// Latencies is a chart of the median, the 99th and the 99.9th percentile of several latencies.
type Latencies struct {
	Rows []Latency
}

// Latency is one latency of a chart. If all values are zero, it was not measured.
type Latency struct {
	Name           string
	Note           string // a few words under the name
	P50, P99, P999 time.Duration
	Ours           bool
}

func (l Latency) seconds() []float64 {
	return []float64{l.P50.Seconds(), l.P99.Seconds(), l.P999.Seconds()}
}

func (l Latencies) show(s *section) error {
	var values []float64
	for _, one := range l.Rows {
		if one.P50 > one.P99 || one.P99 > one.P999 {
			return fmt.Errorf("the percentiles of %s are not in order", one.Name)
		}
		if one.P50 > 0 {
			values = append(values, one.seconds()...)
		}
	}
	scale := newScale(values)
	s.Rows = &rows{Kind: "dots", Heads: []string{"p50", "p99", "p999"}, Ticks: scale.axis(duration), Note: scale.note()}
	for _, one := range l.Rows {
		r := row{Name: one.Name, Note: one.Note, Ours: one.Ours, Cells: []string{none, none, none}}
		if one.P50 > 0 {
			r.Cells = nil
			for _, v := range one.seconds() {
				r.Cells = append(r.Cells, duration(v))
				r.Marks = append(r.Marks, scale.at(v))
			}
		}
		s.Rows.Rows = append(s.Rows.Rows, r)
	}
	return nil
}
