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
}

// CreateRoom creates a room whose owner is the user. It repeats the command until it is answered; the room is created once. A
// program that may create the same room again must set Key.
func (c *Client) CreateRoom(ctx context.Context, r NewRoom) (model.Room, error) {
	var reply wire.CreateRoomReply
	err := c.Call(ctx, "create_room", wire.CreateRoomRequest{
		Key: cmp.Or(r.Key, newKey()), Name: r.Name, Kind: r.Kind, Members: r.Members, Invite: r.Invite, Guests: r.Guests,
	}, &reply)
	return model.RoomOf(reply.Room), err
}

// Direct returns the direct room of the user and another user. It creates the room if there is none. If the user of this client
// has left the room, Direct adds this user again. It does not add the other user again.
func (c *Client) Direct(ctx context.Context, user string) (model.Room, error) {
	var reply wire.DirectReply
	err := c.Call(ctx, "direct", wire.DirectRequest{User: user}, &reply)
	return model.RoomOf(reply.Room), err
}

// Join adds the user to a public room, or to a private room that the user has left.
func (c *Client) Join(ctx context.Context, room string) (model.Room, error) {
	var reply wire.JoinReply
	err := c.Call(ctx, "join", wire.JoinRequest{Room: room}, &reply)
	return model.RoomOf(reply.Room), err
}

// Leave removes the user from a room.
func (c *Client) Leave(ctx context.Context, room string) error {
	return c.Call(ctx, "leave", wire.LeaveRequest{Room: room}, new(wire.LeaveReply))
}

// ListRooms iterates over the rooms that the user is in, the most recently created first. Rooms returns the rooms that the
// client knows, without a request.
func (c *Client) ListRooms(ctx context.Context) iter.Seq2[model.MyRoom, error] {
	return pages(func(next string) ([]model.MyRoom, string, error) {
		var reply wire.RoomsReply
		err := c.Call(ctx, "rooms", wire.RoomsRequest{Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Rooms, myRoomOf), reply.Next, err
	})
}

// FindRooms iterates over the public rooms whose names match the query; "" matches all. The id of a public room matches that room.
func (c *Client) FindRooms(ctx context.Context, query string) iter.Seq2[model.Room, error] {
	return pages(func(next string) ([]model.Room, string, error) {
		var reply wire.FindRoomsReply
		err := c.Call(ctx, "find_rooms", wire.FindRoomsRequest{Query: query, Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Rooms, model.RoomOf), reply.Next, err
	})
}

// Members iterates over the members of a room.
func (c *Client) Members(ctx context.Context, room string) iter.Seq2[model.Member, error] {
	return pages(func(next string) ([]model.Member, string, error) {
		var reply wire.MembersReply
		err := c.Call(ctx, "members", wire.MembersRequest{Room: room, Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Members, func(m wire.Member) model.Member {
			return model.Member{User: m.User, Role: m.Role, Online: m.Online, MutedUntil: model.TimeOf(m.MutedUntil), ReadSeq: m.ReadSeq}
		}), reply.Next, err
	})
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
