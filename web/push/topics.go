package push

import (
	"hongbao/hub"
	"hongbao/web/wire"
)

// NoSequence is the value of seen for hub.Conn.Subscribe if the topic's messages have no seq.
const NoSequence = -1

// RoomTopic returns the name of a room's topic in the hub, which is also its channel on the wire. The topic carries the
// room's entries, with their seqs.
func RoomTopic(room string) string { return wire.RoomChannel(room) }

// UserTopic returns the name of the topic that all sockets of a user are subscribed to.
func UserTopic(user string) string { return "user:" + user }

// Ping returns the message that checks whether a client is alive. It is for hub.Options.
func Ping(e hub.Encoding) []byte { return wire.Ping(wire.Encoding(e)) }
