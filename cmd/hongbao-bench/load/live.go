package load

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watch logs the group's figures every second, and returns them when ctx ends.
func (c *group) watch(ctx context.Context, logf Logf) (moments []Moment) {
	begin := time.Now()
	last := begin
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return moments
		case now := <-tick.C:
			m := c.moment(now.Sub(begin), now.Sub(last))
			last = now
			moments = append(moments, m)
			logf("%s", m)
		}
	}
}

func (c *group) moment(since, lately time.Duration) Moment {
	_, errors := c.runStats.failures()
	return Moment{
		Second: since.Seconds(), Connected: c.runStats.connected.Load(), Errors: errors,
		Series: seen(c.runStats.series(), lately, (*series).recent),
	}
}

// String returns the line of the log.
func (m Moment) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s  %d connected  %d errors", m.Second, m.Connected, m.Errors)
	for _, f := range m.Series {
		fmt.Fprintf(&b, "  |  %s %.0f/s p50 %.1f p99 %.1f ms", f.Name, f.PerSecond, f.Percentiles[0], f.Percentiles[2])
	}
	return b.String()
}
