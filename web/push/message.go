package push

import (
	"hongbao/chat"
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
