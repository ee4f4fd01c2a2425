package redisstore

import (
	"fmt"
	"strconv"
	"strings"

	"hongbao/redpacket"
)

// answer decodes the reply of a grab and fills in the answers of its requests. For an ack it does nothing.
func (c *call) answer() error {
	if c.groups == nil {
		return nil
	}
	if text, ok := c.cmd.Val().(string); ok {
		return c.parseSingleGrant(text)
	}
	reply, err := c.cmd.Slice()
	r := reader{items: reply, err: err}
	entry := r.text()
	for _, g := range c.groups {
		switch n := r.int(); {
		case n <= allGranted:
			g.grantAll(allGranted-n, entry)
		case n >= 0:
			g.answerEach(n, entry, &r)
		}
	}
	return r.err
}

// parseSingleGrant decodes the script's short reply to a call with one attempt: "entry share".
func (c *call) parseSingleGrant(text string) error {
	entry, share, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(share, 10, 31)
	if err != nil || len(c.groups) != 1 || len(c.groups[0].positions) != 1 {
		return fmt.Errorf("unexpected reply: %q", text)
	}
	c.groups[0].grantAll(int(n), entry)
	return nil
}

// Numbers in the reply of a grab.
const (
	allGranted  = -2                    // all attempts of a group are granted, from share 0 on; -3: from share 1 on, …
	lastGranted = redpacket.Granted + 1 // decision in a code: granted, and it was the packet's last share
	shareUnit   = 16                    // a code is decision + shareUnit * share
)

// grantAll grants consecutive shares to all attempts of the group. The shares below taken were granted before.
func (g *group) grantAll(taken int, entry string) {
	for i, at := range g.positions {
		*at.answer() = redpacket.Answer{Decision: redpacket.Granted, Share: taken + i, Taken: taken + i + 1, Entry: entry}
	}
}

// answerEach decodes one code for each attempt of the group.
func (g *group) answerEach(taken int, entry string, r *reader) {
	reason := r.text()
	for _, at := range g.positions {
		code := r.int()
		ans := at.answer()
		ans.Decision, ans.Taken = redpacket.Decision(code%shareUnit), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareUnit
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(reason)
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareUnit, taken, entry
		}
	}
}
