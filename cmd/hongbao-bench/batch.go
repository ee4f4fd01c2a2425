package main

// batch describes the packets that one round grabs: their number and the shares of each.
type batch struct {
	packets, shares int
	inTurn          bool // one packet after the other, so that each is hot; otherwise all at the same time
}

func (b batch) all() int { return b.packets * b.shares }

// place returns the packet of the i-th grab of the round, and how many earlier grabs are of that packet. Grabs i and
// i+1 are mostly of the same packet if inTurn is set, otherwise of different ones.
func (b batch) place(i int) (packet, before int) {
	if b.inTurn {
		return i / b.shares, i % b.shares
	}
	return i % b.packets, i / b.packets
}
