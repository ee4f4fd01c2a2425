package load

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watch tells every second how it goes, and keeps what it has told. It ends when ctx does.
func (c *crew) watch(ctx context.Context, tell Tell) (told []Moment) {
	begin := time.Now()
	last := begin
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return told
		case now := <-tick.C:
			m := c.moment(now.Sub(begin), now.Sub(last))
			last = now
			told = append(told, m)
			tell("%s", m)
		}
	}
}

func (c *crew) moment(since, lately time.Duration) Moment {
	_, errors := c.board.failures()
	return Moment{
		Second: since.Seconds(), Connected: c.board.connected.Load(), Errors: errors,
		Series: seen(c.board.series(), lately, (*series).recent),
	}
}

// String is the line that people see.
func (m Moment) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%4.0f s  %d connected  %d errors", m.Second, m.Connected, m.Errors)
	for _, f := range m.Series {
		fmt.Fprintf(&b, "  |  %s %.0f/s p50 %.1f p99 %.1f ms", f.Name, f.PerSecond, f.Percentiles[0], f.Percentiles[2])
	}
	return b.String()
}
