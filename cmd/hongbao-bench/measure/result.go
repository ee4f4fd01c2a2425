package measure

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Result is the result of a match. Rates are for one second.
type Result struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Ours    Figures `json:"ours"`
	Peer    Figures `json:"peer"`
	Ratio   float64 `json:"ratio"` // of the medians
	AtLeast float64 `json:"at_least"`
	Met     bool    `json:"met"`
}

// Figures of one side.
type Figures struct {
	Name   string    `json:"name"`
	Median float64   `json:"median"`
	Rounds []float64 `json:"rounds"` // in the order in which they ran
	// CPU is the median of the CPU time of one unit of work, in microseconds, of all processes and with the check of the result; 0: not known.
	CPU float64 `json:"cpu_us,omitempty"`
}

func (m Match) result(ours, peer, ourCPU, peerCPU []float64) Result {
	r := Result{
		Name: m.Name, Unit: m.Unit, AtLeast: m.Asked.AtLeast,
		Ours: Figures{Name: m.Ours.Name, Median: Median(ours), Rounds: ours},
		Peer: Figures{Name: m.Peer.Name, Median: Median(peer), Rounds: peer},
	}
	if len(ourCPU) > 0 && len(peerCPU) > 0 {
		r.Ours.CPU, r.Peer.CPU = Median(ourCPU), Median(peerCPU)
	}
	r.Ratio = r.Ours.Median / r.Peer.Median
	r.Met = r.Ratio >= r.AtLeast
	return r
}

// Median returns the median of at least one figure.
func Median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Table prints the results.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "match\tours\tmedian/s\tbeside\tmedian/s\tratio\tasked\t\tCPU µs each\t") // a tabwriter keeps its first error for Flush
	for _, r := range results {
		verdict := "met"
		if !r.Met {
			verdict = "NOT MET"
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.2f\t>= %.2g\t%s\t%s\n",
			r.Name, r.Ours.Name, r.Ours.cell(), r.Peer.Name, r.Peer.cell(), r.Ratio, r.AtLeast, verdict, r.cpu())
	}
	return t.Flush()
}

// cpu formats the CPU times of both sides.
func (r Result) cpu() string {
	if r.Ours.CPU == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f, %.1f", r.Ours.CPU, r.Peer.CPU)
}

// cell formats the median with the range of the rounds.
func (f Figures) cell() string {
	return fmt.Sprintf("%.0f [%.0f-%.0f]", f.Median, slices.Min(f.Rounds), slices.Max(f.Rounds))
}
