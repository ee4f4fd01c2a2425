package api

import (
	"context"
	"encoding/json"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) send(ctx context.Context, c Caller, r *wire.SendRequest) (wire.SendReply, error) {
	sent, err := a.chat.Send(ctx, c.User, chat.Message{
		Room: r.Room, Key: r.Key, Text: r.Text, Data: r.Data, ReplyTo: r.ReplyTo, Mentions: r.Mentions,
	})
	return wire.SendReply{Seq: sent.Seq, ID: sent.ID, At: convert.Millis(sent.At), Dup: sent.Dup}, err
}

func (a *Commands) history(ctx context.Context, c Caller, r *wire.HistoryRequest) (wire.HistoryReply, error) {
	entries, more, err := a.chat.History(ctx, c.User.ID, r.Room, chat.Page{Before: r.Before, After: r.After, Limit: r.Limit})
	if err != nil {
		return wire.HistoryReply{}, err
	}
	states, err := packetStates(ctx, a.packets, c.User.ID, entries)
	return wire.HistoryReply{Entries: convert.List(entries, convert.Entry), PacketStates: states, More: more}, err
}

func (a *Commands) read(ctx context.Context, c Caller, r *wire.ReadRequest) (wire.ReadReply, error) {
	unread, err := a.chat.Read(ctx, c.User.ID, r.Room, r.Seq)
	return wire.ReadReply{Unread: unread}, err
}

// packetStates returns the present state of each packet among the entries, as the given user may see it.
func packetStates(ctx context.Context, service *redpacket.Service, user string, entries []chat.Entry) ([]wire.State, error) {
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
	states, err := service.States(ctx, user, packets)
	return convert.List(states, convert.State), err
}

// packetOf returns the ID of the packet that a packet entry announces.
func packetOf(e chat.Entry) (string, error) {
	var body struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return "", fmt.Errorf("packet entry %s: %w", e.ID, err)
	}
	return body.ID, nil
}
