package load

import "time"

// operations are what a load is made of, and how many there were: what it takes is told for one of them.
func (c *crew) operations(took time.Duration) (name string, n float64) {
	count := func(all ...*series) (sum float64) {
		for _, s := range all {
			sum += float64(s.all().TotalCount())
		}
		return sum
	}
	switch b := c.board; c.plan.Scenario {
	case "grab":
		return "grab", count(b.won, b.sorry)
	case "chat":
		return "delivery", count(b.delivered)
	case "storm":
		return "return", count(b.back)
	}
	return "user and second", float64(len(c.users)) * took.Seconds()
}

// each tells what a part has taken for one of so many operations.
func (p *Part) each(n float64, took time.Duration) {
	if n > 0 {
		p.Micros = p.Cores * float64(took.Microseconds()) / n
	}
}
