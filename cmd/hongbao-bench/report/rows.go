package report

// rows are a table one column of which is a picture: bars, or the dots of latencies.
type rows struct {
	Kind  string
	Heads []string // of the columns with figures
	Rows  []row
	Ticks []tick
	Note  string
}

// row of them.
type row struct {
	Name, Note string
	Ours       bool
	Cells      []string
	Marks      []share // where its values are; none: nothing is drawn
}

// tick of an axis.
type tick struct {
	At    share
	Label string
	Side  string // which side of the text is there
}

// axis is the ticks of a scale from left to right. Texts at its ends stay inside.
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
