package session

import (
	"cmp"
	"context"
	"slices"

	"github.com/centrifugal/protocol"

	"hongbao/hub"
	"hongbao/web/convert"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// Limits of the missed entries in one connect reply, over all rooms together.
const (
	recoverEntries = 500
	recoverBytes   = 256 << 10
)

// gap is the entries of a room that a client has missed: those with a seq above after, up to through. recover stores
// the result in sub.
type gap struct {
	room           string
	after, through int64
	sub            *protocol.SubscribeResult
}

func (g gap) size() int64 { return g.through - g.after }

// recover puts the missed entries into the reply, for the smallest gaps first, as far as the limits allow. The other
// rooms are marked as not recovered. It returns the states of the packets among the entries.
func (o *opener) recover(ctx context.Context, gaps []gap) ([]wire.State, error) {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.size(), b.size()) })
	missed := o.s.m.c.Hub.Recent(ctx, spansOf(gaps))
	var packets []string
	left := recoverBytes
	for _, g := range gaps {
		messages := missed[push.RoomTopic(g.room)]
		if int64(len(messages)) != g.size() {
			continue // over the limit, or the entries are incomplete
		}
		publications, size := publicationsOf(messages)
		if size > left {
			continue
		}
		left -= size
		g.sub.Recovered, g.sub.Publications = true, publications
		for _, m := range messages {
			if id := push.PacketIn(m); id != "" {
				packets = append(packets, id)
			}
		}
	}
	states, err := o.s.m.c.Packets.States(ctx, o.identity.User.ID, packets)
	return convert.List(states, convert.State), err
}

// spansOf returns the smallest gaps that together have at most recoverEntries entries.
func spansOf(gaps []gap) (spans []hub.Span) {
	left := int64(recoverEntries)
	for _, g := range gaps {
		if g.size() > left {
			break
		}
		left -= g.size()
		if g.size() > 0 {
			spans = append(spans, hub.Span{Topic: push.RoomTopic(g.room), After: g.after, Through: g.through})
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
