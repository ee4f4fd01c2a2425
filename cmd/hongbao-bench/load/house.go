package load

import (
	"context"

	"hongbao/web/wire"
)

// House is an installation that is filled more and more, to see what that makes dearer. Most of what is in it is in one
// room, the hall.
type House struct {
	target *Target
	crew   *crew // who fill it
	size   Size
	effort float64 // of what is measured; 1 is the full one
}

// Size of a house.
type Size struct {
	Packets int `json:"packets"` // open ones in the hall
	Rooms   int `json:"rooms"`   // besides the hall
	Members int `json:"members"` // of the hall
	Entries int `json:"entries"` // of the hall
}

// Times is a house so many times as large.
func (s Size) Times(n int) Size {
	return Size{Packets: s.Packets * n, Rooms: s.Rooms * n, Members: s.Members * n, Entries: s.Entries * n}
}

// fillers are members of the hall from the beginning, and send what is in it.
const fillers = 32

// NewHouse makes the hall.
func NewHouse(ctx context.Context, t *Target) (*House, error) {
	c, err := assemble(t, Plan{Scenario: "house", Users: fillers})
	if err != nil {
		return nil, err
	}
	h := &House{target: t, crew: c}
	if err := c.makeRooms(ctx, 1, func(int) *user { return c.users[0] }); err != nil {
		return nil, err
	}
	return h, each(ctx, c.users, func(ctx context.Context, i int, u *user) error {
		if err := t.credit(ctx, u.id, housePurse, c.key("credit", i)); err != nil {
			return err
		}
		return c.join(ctx, u, c.rooms[0])
	})
}

const housePurse = int64(1e12)

// Grow fills it up to a size.
func (h *House) Grow(ctx context.Context, to Size) error {
	c, hall := h.crew, h.crew.rooms[0].id
	if err := c.makeRooms(ctx, to.Rooms-h.size.Rooms, func(i int) *user { return c.users[i%fillers] }); err != nil {
		return err
	}
	for _, part := range []struct {
		from, to int
		add      func(ctx context.Context, n int) error
	}{
		{max(h.size.Members, fillers), to.Members, func(ctx context.Context, n int) error {
			id, token, err := h.target.Passes.user(c.run, n)
			if err != nil {
				return err
			}
			return h.target.command(ctx, &user{number: n, id: id, token: token}, "join", wire.JoinRequest{Room: hall}, nil)
		}},
		{h.size.Entries, to.Entries, func(ctx context.Context, n int) error {
			request := wire.SendRequest{Room: hall, Key: c.key("entry", n), Text: saying}
			return h.target.command(ctx, c.users[n%fillers], "send", request, nil)
		}},
		{h.size.Packets, to.Packets, func(ctx context.Context, n int) error {
			count := 10
			request := wire.SendPacketRequest{Room: hall, Key: c.key("packet", n), Total: shareOnAverage * int64(count), Count: &count}
			return h.target.command(ctx, c.users[n%fillers], "send_packet", request, nil)
		}},
	} {
		all := make([]struct{}, max(part.to-part.from, 0))
		if err := each(ctx, all, func(ctx context.Context, i int, _ struct{}) error { return part.add(ctx, part.from+i) }); err != nil {
			return err
		}
	}
	h.size = to
	return nil
}
