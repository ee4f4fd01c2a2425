package report

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
