package main

import (
	"fmt"
	"sync/atomic"
)

// seqLog records the seqs that were acknowledged in a round.
type seqLog struct {
	before int64
	seen   []atomic.Bool
}

// mostMessages bounds the messages of a round.
const mostMessages = 1 << 20

func newSeqLog(before int64) *seqLog {
	return &seqLog{before: before, seen: make([]atomic.Bool, mostMessages)}
}

func (l *seqLog) note(seq int64) error {
	i := seq - l.before - 1
	if i < 0 || i >= mostMessages || l.seen[i].Swap(true) {
		return fmt.Errorf("seq %d was acknowledged twice or is not of this round", seq)
	}
	return nil
}

// check verifies that each seq since the start of the round was acknowledged once, and no other.
func (l *seqLog) check(done int, last int64) error {
	if last-l.before != int64(done) {
		return fmt.Errorf("%d messages were acknowledged, the room has %d more", done, last-l.before)
	}
	for i := range done {
		if !l.seen[i].Load() {
			return fmt.Errorf("seq %d was not acknowledged", l.before+int64(i)+1)
		}
	}
	return nil
}
