package web

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// Topics of the hub: a room's is the name of its channel on the wire, and carries its entries as messages
// in sequence; a user's reaches all his sockets.

func roomTopic(room string) string { return wire.RoomChannel(room) }

// noSequence tells the hub that a topic's messages are not numbered.
const noSequence = -1

// entryMessage is an entry as the hub moves it, whether it was just committed or read again.
func entryMessage(e chat.Entry) hub.Message {
	return hub.Message{Seq: e.Seq, Data: wire.EntryJSON(wireEntry(e)), Last: lastFor(e), Late: canWait(e.Kind)}
}

// canWait tells whether entries of this kind may wait for something to leave with: nobody is waiting for them.
func canWait(k chat.EntryKind) bool { return k == chat.KindPacketDone || k == chat.KindReact }

// lastFor is the topic of the user who is out of the room by this entry, and so gets none behind it: whatever else the
// bus brings of the room before it brings the word that he is out.
func lastFor(e chat.Entry) string {
	if e.Kind != chat.KindMember {
		return ""
	}
	var body chat.MemberChange
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	switch body.Change {
	case "kicked", "banned", "left_private":
		return userTopic(body.User)
	}
	return ""
}

// Ping is the liveness message. It is for hub.Options.
func Ping(e hub.Encoding) []byte { return wire.Ping(wire.Encoding(e)) }

// Repair reads for the hub, from the store, what the bus has lost. Its methods are for hub.Options.
type Repair struct{ Store chat.Store }

// Fetch reads rooms' entries.
func (r Repair) Fetch(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
	var asked []chat.Span
	for _, span := range spans {
		if room, ok := wire.ChannelRoom(span.Topic); ok {
			asked = append(asked, chat.Span{Room: room, After: span.After, Through: span.Through})
		}
	}
	rooms, err := r.Store.Spans(ctx, asked)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string][]hub.Message, len(rooms))
	for room, entries := range rooms {
		byTopic[roomTopic(room)] = mapped(entries, entryMessage)
	}
	return byTopic, nil
}

// LastSeqs reads where the rooms among the topics are.
func (r Repair) LastSeqs(ctx context.Context, topics []string) (map[string]int64, error) {
	rooms := make([]string, 0, len(topics))
	for _, topic := range topics {
		if room, ok := wire.ChannelRoom(topic); ok {
			rooms = append(rooms, room)
		}
	}
	seqs, err := r.Store.LastSeqs(ctx, rooms)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string]int64, len(seqs))
	for room, seq := range seqs {
		byTopic[roomTopic(room)] = seq
	}
	return byTopic, nil
}
