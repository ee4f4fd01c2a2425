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

func (a *Commands) edit(ctx context.Context, c Caller, r *wire.EditRequest) (wire.SeqReply, error) {
	seq, err := a.chat.Edit(ctx, c.User, r.Room, r.Seq, r.Text)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) recall(ctx context.Context, c Caller, r *wire.RecallRequest) (wire.SeqReply, error) {
	seq, err := a.chat.Recall(ctx, c.User, r.Room, r.Seq)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) react(ctx context.Context, c Caller, r *wire.ReactRequest) (wire.ReactReply, error) {
	return wire.ReactReply{}, a.chat.React(ctx, c.User, r.Room, r.Seq, r.Emoji, r.On)
}

// Typing handles the message of a client that its user is typing in a room. It has no reply, and invalid data is
// ignored.
func (a *Commands) Typing(ctx context.Context, c Caller, data []byte) {
	var sent wire.TypingSend
	var in wire.TypingRoom
	if wire.Decode(data, &sent) != nil || wire.Decode(sent.Typing, &in) != nil {
		return
	}
	a.chat.Typing(ctx, c.User, in.Room)
}
