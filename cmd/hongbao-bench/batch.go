package main

// batch of packets that are grabbed in a round: so many packets, each of so many shares.
type batch struct {
	packets, shares int
	inTurn          bool // one packet after the other, each a hot one; else all at once
}

func (b batch) all() int { return b.packets * b.shares }

// place says which packet the i-th grab of the round is of, and how many of that packet come before it. Neighbours
// grab the same packet or different ones, as the batch wants it.
func (b batch) place(i int) (packet, before int) {
	if b.inTurn {
		return i / b.shares, i % b.shares
	}
	return i % b.packets, i / b.packets
}
