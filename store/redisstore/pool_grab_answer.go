package redisstore

import "hongbao/redpacket"

// answer reads the reply of a grab and fills in the answers.
func (c *call) answer() error {
	if c.groups == nil {
		return nil // an ack has none
	}
	reply, err := c.cmd.Slice()
	r := reader{items: reply, err: err}
	for _, g := range c.groups {
		if taken := r.int(); taken >= 0 {
			g.answer(taken, &r)
		}
	}
	return r.err
}

const (
	lastGranted = redpacket.Granted + 1 // of a code: granted, and it was the last share
	shareFrom   = 16                    // of a code: one share more
)

func (g *group) answer(taken int, r *reader) {
	entry := r.text()
	for _, s := range g.seats {
		code := r.int()
		ans := &s.ask.answers[s.i]
		ans.Decision, ans.Taken = redpacket.Decision(code%shareFrom), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareFrom
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(entry) // there is no entry of a closed one
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareFrom, taken, entry
		}
	}
}
