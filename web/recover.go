package web

import (
	"cmp"
	"context"
	"slices"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
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
	missed, err := s.missed(ctx, gaps)
	if err != nil {
		return nil, err
	}
	var recovered []chat.Entry
	left := recoverBytes
	for _, g := range gaps {
		entries := missed[g.room]
		if int64(len(entries)) != g.size() {
			continue // over the cap, or not what the store should have
		}
		publications, size := publicationsOf(entries)
		if size > left {
			continue
		}
		left -= size
		g.sub.Recovered, g.sub.Publications = true, publications
		recovered = append(recovered, entries...)
	}
	return s.packetStates(ctx, user, recovered)
}

// missed reads the smallest gaps that together stay within recoverEntries, all at once.
func (s *Server) missed(ctx context.Context, gaps []gap) (map[string][]chat.Entry, error) {
	var spans []chat.Span
	room := int64(recoverEntries)
	for _, g := range gaps {
		if g.size() > room {
			break
		}
		room -= g.size()
		if g.size() > 0 {
			spans = append(spans, chat.Span{Room: g.room, After: g.after, Through: g.through})
		}
	}
	if len(spans) == 0 {
		return nil, nil
	}
	return s.chat.Resume(ctx, spans)
}

func publicationsOf(entries []chat.Entry) (publications []*protocol.Publication, size int) {
	for _, e := range entries {
		data := wire.EntryJSON(wireEntry(e))
		size += len(data)
		publications = append(publications, &protocol.Publication{Data: data, Offset: uint64(e.Seq)})
	}
	return publications, size
}
