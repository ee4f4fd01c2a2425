package redisstore

import (
	"fmt"
	"strconv"
	"strings"

	"hongbao/redpacket"
)

// answer reads the reply of a grab and fills in the answers.
func (c *call) answer() error {
	if c.groups == nil {
		return nil // an ack has none
	}
	if text, ok := c.cmd.Val().(string); ok {
		return c.lone(text)
	}
	reply, err := c.cmd.Slice()
	r := reader{items: reply, err: err}
	entry := r.text()
	for _, g := range c.groups {
		switch n := r.int(); {
		case n <= together:
			g.won(together-n, entry)
		case n >= 0:
			g.answer(n, entry, &r)
		}
	}
	return r.err
}

// lone reads what who asks alone is told when he is granted a share.
func (c *call) lone(text string) error {
	entry, share, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(share, 10, 31)
	if err != nil || len(c.groups) != 1 || len(c.groups[0].seats) != 1 {
		return fmt.Errorf("unexpected reply: %q", text)
	}
	c.groups[0].won(int(n), entry)
	return nil
}

const (
	together    = -2                    // granted to all who asked, share 0 and so on; one less: share 1 and so on
	lastGranted = redpacket.Granted + 1 // of a code: granted, and it was the last share
	shareFrom   = 16                    // of a code: one share more
)

// won gives all the next shares; those before have been taken.
func (g *group) won(taken int, entry string) {
	for i, s := range g.seats {
		s.ask.answers[s.i] = redpacket.Answer{Decision: redpacket.Granted, Share: taken + i, Taken: taken + i + 1, Entry: entry}
	}
}

func (g *group) answer(taken int, entry string, r *reader) {
	reason := r.text()
	for _, s := range g.seats {
		code := r.int()
		ans := &s.ask.answers[s.i]
		ans.Decision, ans.Taken = redpacket.Decision(code%shareFrom), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareFrom
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(reason)
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareFrom, taken, entry
		}
	}
}
