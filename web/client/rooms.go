package client

import (
	"cmp"
	"context"
	"iter"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// NewRoom is a room to be created.
type NewRoom struct {
	Key     string // identifies this room permanently; "": a random key is used
	Name    string
	Kind    string   // public or private; "": private
	Members []string // ids of the first members besides the user
	Invite  string   // which members may invite users: members or admins; "": admins in a private room, else members
	Guests  *bool    // whether guests may enter; nil: they may
	Packets *bool    // whether users may send packets; nil: they may
}

// CreateRoom creates a room whose owner is the user. It repeats the command until it is answered; the room is created once. A
// program that may create the same room again must set Key.
func (c *Client) CreateRoom(ctx context.Context, r NewRoom) (model.Room, error) {
	var reply wire.CreateRoomReply
	err := c.Call(ctx, "create_room", wire.CreateRoomRequest{
		Key: cmp.Or(r.Key, newKey()), Name: r.Name, Kind: r.Kind, Members: r.Members, Invite: r.Invite, Guests: r.Guests, Packets: r.Packets,
	}, &reply)
	return model.RoomOf(reply.Room), err
}

// Online returns how many members of a room are online. In small rooms it also returns their ids.
func (c *Client) Online(ctx context.Context, room string) (count int, users []string, err error) {
	var reply wire.PresenceReply
	err = c.Call(ctx, "presence", wire.PresenceRequest{Room: room}, &reply)
	if reply.Users != nil {
		users = *reply.Users
	}
	return reply.Online, users, err
}

// pages iterates over a list that the server returns in pages. read gets "" for the first page, and returns "" as next
// after the last.
func pages[T any](read func(next string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next, more := "", true; more; more = next != "" {
			items, following, err := read(next)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			next = following
		}
	}
}

func memberOf(m wire.Member) model.Member {
	return model.Member{User: m.User, Role: m.Role, Online: m.Online, MutedUntil: model.TimeOf(m.MutedUntil), ReadSeq: m.ReadSeq}
}
