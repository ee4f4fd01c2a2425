package web

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

func (s *Server) send(ctx context.Context, c Caller, r *wire.SendRequest) (wire.SendReply, error) {
	sent, err := s.chat.Send(ctx, c.User, chat.Message{
		Room: r.Room, Key: r.Key, Text: r.Text, Data: r.Data, ReplyTo: r.ReplyTo, Mentions: r.Mentions,
	})
	return wire.SendReply{Seq: sent.Seq, ID: sent.ID, At: millis(sent.At), Dup: sent.Dup}, err
}

func (s *Server) history(ctx context.Context, c Caller, r *wire.HistoryRequest) (wire.HistoryReply, error) {
	entries, more, err := s.chat.History(ctx, c.User.ID, r.Room, chat.Page{Before: r.Before, After: r.After, Limit: r.Limit})
	if err != nil {
		return wire.HistoryReply{}, err
	}
	states, err := s.packetStates(ctx, c.User.ID, entries)
	return wire.HistoryReply{Entries: mapped(entries, wireEntry), PacketStates: states, More: more}, err
}

func (s *Server) read(ctx context.Context, c Caller, r *wire.ReadRequest) (wire.ReadReply, error) {
	unread, err := s.chat.Read(ctx, c.User.ID, r.Room, r.Seq)
	return wire.ReadReply{Unread: unread}, err
}

// packetStates tells how the packets among the entries stand now, for one user: one State for each packet entry.
func (s *Server) packetStates(ctx context.Context, user string, entries []chat.Entry) ([]wire.State, error) {
	var packets []string
	for _, e := range entries {
		if e.Kind != chat.KindPacket {
			continue
		}
		id, err := packetOf(e)
		if err != nil {
			return nil, err
		}
		packets = append(packets, id)
	}
	states, err := s.packets.States(ctx, user, packets)
	return mapped(states, wireState), err
}
