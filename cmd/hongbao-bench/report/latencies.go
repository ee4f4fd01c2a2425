package report

import (
	"fmt"
	"time"
)

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
