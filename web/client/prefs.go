package client

import (
	"context"
	"time"

	"hongbao/web/wire"
)

// RoomPrefs is what the user decides about a room for all own devices. A nil field changes nothing.
type RoomPrefs struct {
	Silent   *bool         // new entries make no sound, banner or notification, and do not count in the unread total of all rooms
	For      time.Duration // with Silent true: how long, rounded up to seconds; 0: without an end
	Pinned   *bool         // the room is at the top of the list
	Archived *bool         // the room is not in the list; if it is not silent without an end, only until the next text or packet
}

// SetRoomPrefs changes what the user has decided about a room. The event RoomPrefs follows on each device that is connected.
func (c *Client) SetRoomPrefs(ctx context.Context, room string, p RoomPrefs) error {
	r := wire.SetRoomPrefsRequest{Room: room, Silent: p.Silent, SilentS: int64((p.For + time.Second - 1) / time.Second), Pinned: p.Pinned, Archived: p.Archived}
	return c.Call(ctx, "set_room_prefs", r, new(wire.SetRoomPrefsReply))
}
