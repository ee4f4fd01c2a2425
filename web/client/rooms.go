package client

import (
	"cmp"
	"context"
	"iter"

	"hongbao/web/wire"
)

// NewRoom is a room to be made.
type NewRoom struct {
	Key     string // names this room for ever; "": one is drawn
	Name    string
	Kind    string   // public, private; "": public
	Members []string // user ids, who are put in
}

// CreateRoom makes a room, once. One is its owner.
func (c *Client) CreateRoom(ctx context.Context, r NewRoom) (Room, error) {
	var reply wire.CreateRoomReply
	err := c.Call(ctx, "create_room", wire.CreateRoomRequest{Key: cmp.Or(r.Key, newKey()), Name: r.Name, Kind: r.Kind, Members: r.Members}, &reply)
	return roomOf(reply.Room), err
}

// Direct is the one room of oneself and another user. It is made, and both are put in, where need be.
func (c *Client) Direct(ctx context.Context, user string) (Room, error) {
	var reply wire.DirectReply
	err := c.Call(ctx, "direct", wire.DirectRequest{User: user}, &reply)
	return roomOf(reply.Room), err
}

// Join enters a public room.
func (c *Client) Join(ctx context.Context, room string) (Room, error) {
	var reply wire.JoinReply
	err := c.Call(ctx, "join", wire.JoinRequest{Room: room}, &reply)
	return roomOf(reply.Room), err
}

// Leave leaves a room.
func (c *Client) Leave(ctx context.Context, room string) error {
	return c.Call(ctx, "leave", wire.LeaveRequest{Room: room}, new(wire.LeaveReply))
}

// FindRooms goes through the public rooms whose names fit; "": all.
func (c *Client) FindRooms(ctx context.Context, query string) iter.Seq2[Room, error] {
	return pages(func(next string) ([]Room, string, error) {
		var reply wire.FindRoomsReply
		err := c.Call(ctx, "find_rooms", wire.FindRoomsRequest{Query: query, Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Rooms, roomOf), reply.Next, err
	})
}

// Members goes through the members of a room.
func (c *Client) Members(ctx context.Context, room string) iter.Seq2[Member, error] {
	return pages(func(next string) ([]Member, string, error) {
		var reply wire.MembersReply
		err := c.Call(ctx, "members", wire.MembersRequest{Room: room, Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Members, func(m wire.Member) Member {
			return Member{User: m.User, Role: m.Role, Online: m.Online, MutedUntil: timeOf(m.MutedUntil)}
		}), reply.Next, err
	})
}

// Online is how many members of a room are online, and in small rooms who.
func (c *Client) Online(ctx context.Context, room string) (count int, users []string, err error) {
	var reply wire.PresenceReply
	err = c.Call(ctx, "presence", wire.PresenceRequest{Room: room}, &reply)
	if reply.Users != nil {
		users = *reply.Users
	}
	return reply.Online, users, err
}

// pages goes through a list that comes in pages; "" names the first and follows the last.
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
