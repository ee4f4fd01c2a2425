package load

import "time"

// operations returns the kind of operation that CPU times are divided by, and how many of them the load made.
func (c *group) operations(took time.Duration) (name string, n float64) {
	count := func(all ...*series) (sum float64) {
		for _, s := range all {
			sum += float64(s.all().TotalCount())
		}
		return sum
	}
	switch b := c.runStats; c.plan.Scenario {
	case "grab":
		return "grab", count(b.won, b.notWon)
	case "chat":
		return "delivery", count(b.delivered)
	case "storm":
		return "return", count(b.reconnects)
	}
	return "user and second", float64(len(c.users)) * took.Seconds()
}

// each divides the part's CPU time by n operations and stores the result.
func (p *Part) each(n float64, took time.Duration) {
	if n > 0 {
		p.Micros = p.Cores * float64(took.Microseconds()) / n
	}
}
