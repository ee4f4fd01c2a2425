package convert

import (
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// List converts each element of a list. The result is never nil, so that an empty list is [] on the wire.
func List[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

// Millis converts a time to Unix milliseconds. The zero time becomes 0, which optional fields omit.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// User converts a user to its form on the wire.
func User(u chat.User) wire.User { return wire.User(u) }

// Room converts a room to its form on the wire, without Role.
func Room(r chat.Room) wire.Room {
	return wire.Room{
		ID: r.ID, Name: r.Name, Kind: string(r.Kind), Announcement: r.Announcement,
		Members: r.Members, LastSeq: r.LastSeq, CreatedAt: Millis(r.CreatedAt),
	}
}

// Membership converts a membership to the room's form on the wire. Role is the member's role.
func Membership(m chat.Membership) wire.Room {
	r := Room(m.Room)
	r.Role = string(m.Role)
	return r
}

// MyRoom converts a membership to its form in the connect reply.
func MyRoom(m chat.Membership) wire.MyRoom {
	return wire.MyRoom{Room: Membership(m), ReadSeq: m.ReadSeq, Unread: m.Unread}
}

// Member converts a member to its form on the wire. The caller sets Online.
func Member(m chat.Member) wire.Member {
	return wire.Member{User: User(m.User), Role: string(m.Role), MutedUntil: Millis(m.MutedUntil)}
}

// Entry converts an entry of a room to its form on the wire.
func Entry(e chat.Entry) wire.Entry {
	return wire.Entry{
		Seq: e.Seq, ID: e.ID, At: Millis(e.At), From: User(e.From), Kind: string(e.Kind), Key: e.Key, Body: e.Body,
	}
}
