package web

import (
	"cmp"
	"context"
	"slices"

	"github.com/centrifugal/protocol"

	"hongbao/hub"
	"hongbao/web/wire"
)

// What a connect reply brings of missed entries, over all rooms.
const (
	recoverEntries = 500
	recoverBytes   = 256 << 10
)

// gap is what a client has missed of a room: the entries in (after, through]. The outcome goes into sub.
type gap struct {
	room           string
	after, through int64
	sub            *protocol.SubscribeResult
}

func (g gap) size() int64 { return g.through - g.after }

// recover fills the gaps, the smallest first as far as the caps allow; the others stay "not recovered". It
// returns the states of the packets among the entries.
func (s *Server) recover(ctx context.Context, user string, gaps []gap) ([]wire.State, error) {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.size(), b.size()) })
	missed := s.hub.Recent(ctx, spansOf(gaps))
	var packets []string
	left := recoverBytes
	for _, g := range gaps {
		messages := missed[roomTopic(g.room)]
		if int64(len(messages)) != g.size() {
			continue // over the cap, or not what the store should have
		}
		publications, size := publicationsOf(messages)
		if size > left {
			continue
		}
		left -= size
		g.sub.Recovered, g.sub.Publications = true, publications
		for _, m := range messages {
			if id := packetIn(m.Data); id != "" {
				packets = append(packets, id)
			}
		}
	}
	states, err := s.packets.States(ctx, user, packets)
	return mapped(states, wireState), err
}

// spansOf are the smallest gaps that together stay within recoverEntries.
func spansOf(gaps []gap) (spans []hub.Span) {
	room := int64(recoverEntries)
	for _, g := range gaps {
		if g.size() > room {
			break
		}
		room -= g.size()
		if g.size() > 0 {
			spans = append(spans, hub.Span{Topic: roomTopic(g.room), After: g.after, Through: g.through})
		}
	}
	return spans
}

func publicationsOf(messages []hub.Message) (publications []*protocol.Publication, size int) {
	for _, m := range messages {
		size += len(m.Data)
		publications = append(publications, &protocol.Publication{Data: m.Data, Offset: uint64(m.Seq)})
	}
	return publications, size
}
