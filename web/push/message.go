package push

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// Left returns the push which tells a client that its user has left a room or was removed.
func Left(room, reason string) []byte {
	return marshal(wire.Message{Left: &wire.LeftPush{Room: room, Reason: reason}})
}

// messageOf returns an event as the push that clients receive. It panics for an event that has no push.
func messageOf(e chat.Event) []byte {
	var m wire.Message
	switch e := e.(type) {
	case chat.MembersCounted:
		m.Members = &wire.MembersPush{Room: e.Room, Count: e.Count}
	case chat.ReadMoved:
		m.Read = &wire.ReadPush{Room: e.Room, User: e.User, Seq: e.Seq}
	case chat.Typed:
		m.Typing = &wire.TypingPush{Room: e.Room, User: e.User}
	case chat.PresenceChanged:
		m.Presence = &wire.PresencePush{Room: e.Room, User: e.User, Online: e.Online}
	case redpacket.Progress:
		return wire.ProgressPush(e).MessageJSON()
	case redpacket.GrabDecided:
		return convert.GrabReply(e.Result).MessageJSON()
	case redpacket.WalletChanged:
		return wire.WalletPush{
			Balance: int64(e.Account.Balance), AccountVersion: e.Account.Version,
			Change: int64(e.Change), Kind: string(e.Kind), Packet: e.Packet,
			NextCommitment: e.Account.NextCommitment,
		}.MessageJSON()
	default:
		panic("push: no push for event " + e.EventName())
	}
	return marshal(m)
}

// marshal encodes a value of our own types, for which encoding cannot fail.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("push: " + err.Error())
	}
	return data
}

// entryMessage returns an entry as a message of the hub. The bytes are the same for a new entry and one read from the
// store.
func entryMessage(e chat.Entry) hub.Message {
	return hub.Message{Seq: e.Seq, Data: wire.EntryJSON(convert.Entry(e)), Meta: entryMeta(e.Kind, e.Body), Final: finalFor(e), Deferred: deferrable(e.Kind)}
}

// deferrable reports whether entries of this kind may be delayed, to be written together with others. No user waits for
// them.
func deferrable(k chat.EntryKind) bool { return k == chat.KindPacketDone || k == chat.KindReact }

// finalFor returns the topic of the user whose membership the entry ends, or "". That user receives nothing of the room
// after the entry, even if later entries arrive before the signal that takes the user's sockets out of the room.
func finalFor(e chat.Entry) string {
	if e.Kind != chat.KindMember {
		return ""
	}
	var body chat.MemberChange
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	switch body.Change {
	case "kicked", "banned", "left_private":
		return UserTopic(body.User)
	}
	return ""
}

// Repair reads entries that were lost on the bus from the store. Its methods are for hub.Options.
type Repair struct{ Store chat.Store }

// Fetch reads spans of entries of rooms from the store. It omits topics that are not rooms.
func (r Repair) Fetch(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
	var wanted []chat.Span
	for _, span := range spans {
		if room, ok := wire.ChannelRoom(span.Topic); ok {
			wanted = append(wanted, chat.Span{Room: room, After: span.After, Through: span.Through})
		}
	}
	rooms, err := r.Store.Spans(ctx, wanted)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string][]hub.Message, len(rooms))
	for room, entries := range rooms {
		byTopic[RoomTopic(room)] = convert.List(entries, entryMessage)
	}
	return byTopic, nil
}

// LastSeqs reads the last seq of each room from the store. It omits topics that are not rooms.
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
		byTopic[RoomTopic(room)] = seq
	}
	return byTopic, nil
}
