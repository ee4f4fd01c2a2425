package web

import (
	"context"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// Topics of the hub: a room's is the name of its channel on the wire, and carries its entries as messages
// in sequence; a user's reaches all his sockets.

func roomTopic(room string) string { return wire.RoomChannel(room) }

// noSequence tells the hub that a topic's messages are not numbered.
const noSequence = -1

// entryMessage is an entry as the hub moves it.
func entryMessage(e chat.Entry) hub.Message {
	return hub.Message{Seq: e.Seq, Data: wire.EntryJSON(wireEntry(e))}
}

// Ping is the liveness message. It is for hub.Options.
func Ping(e hub.Encoding) []byte { return wire.Ping(wire.Encoding(e)) }

// Repair reads for the hub, from the store, what the bus has lost. Its methods are for hub.Options.
type Repair struct{ Store chat.Store }

// Fetch reads a room's entries in (after, through].
func (r Repair) Fetch(ctx context.Context, topic string, after, through int64) ([]hub.Message, error) {
	room, ok := wire.ChannelRoom(topic)
	if !ok {
		return nil, nil
	}
	spans, err := r.Store.Spans(ctx, []chat.Span{{Room: room, After: after, Through: through}})
	if err != nil {
		return nil, err
	}
	messages := make([]hub.Message, 0, len(spans[room]))
	for _, e := range spans[room] {
		messages = append(messages, entryMessage(e))
	}
	return messages, nil
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
