package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what came of a plan.
type Result struct {
	Plan       Plan             `json:"plan"`
	Seconds    float64          `json:"seconds"` // of the window
	Series     []Figures        `json:"series"`
	Errors     map[string]int64 `json:"errors"`
	Lost       int64            `json:"lost"`   // connections that we have not cut
	Resent     int64            `json:"resent"` // commands said again
	Checks     []Check          `json:"checks"`
	Operation  string           `json:"operation"` // what the parts' time is told for
	Parts      []Part           `json:"parts"`
	Bottleneck string           `json:"bottleneck"`
	Timeline   []Moment         `json:"timeline"`
}

// Figures of one series. Times are milliseconds.
type Figures struct {
	Name        string    `json:"name"`
	Count       int64     `json:"count"`
	PerSecond   float64   `json:"per_second"`
	Percentiles []float64 `json:"percentiles"` // of Shown
	Max         float64   `json:"max"`
}

// Shown are the percentiles of Figures.
var Shown = []float64{50, 90, 99, 99.9}

// Moment is one line of what was told while it ran.
type Moment struct {
	Second    float64   `json:"second"`
	Connected int64     `json:"connected"`
	Errors    int64     `json:"errors"`
	Series    []Figures `json:"series"`
}

// OK tells whether everything held that was checked.
func (r Result) OK() bool {
	for _, c := range r.Checks {
		if !c.Held {
			return false
		}
	}
	return true
}

// Of is the series of a name; an empty one when nothing of it was seen.
func (r Result) Of(name string) Figures {
	for _, f := range r.Series {
		if f.Name == name {
			return f
		}
	}
	return figures(name, newHistogram(), time.Second)
}

// At is a percentile, one of Shown.
func (f Figures) At(percentile float64) time.Duration {
	for i, p := range Shown {
		if p == percentile {
			return time.Duration(f.Percentiles[i] * float64(time.Millisecond))
		}
	}
	return 0
}

// The names of series that others ask for.
const (
	Won       = "grab won"
	Delivered = "message delivered"
	Reconnect = "reconnect"
)

func figures(name string, h *hdrhistogram.Histogram, took time.Duration) Figures {
	f := Figures{Name: name, Count: h.TotalCount(), PerSecond: float64(h.TotalCount()) / took.Seconds(), Max: milliseconds(h.Max())}
	for _, p := range Shown {
		f.Percentiles = append(f.Percentiles, milliseconds(h.ValueAtPercentile(p)))
	}
	return f
}

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }

// seen are the figures of all series that hold anything.
func seen(all []*series, took time.Duration, of func(*series) *hdrhistogram.Histogram) (list []Figures) {
	for _, s := range all {
		if h := of(s); h.TotalCount() > 0 {
			list = append(list, figures(s.name, h, took))
		}
	}
	return list
}
