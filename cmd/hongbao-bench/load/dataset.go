package load

import (
	"context"

	"hongbao/web/wire"
)

// Dataset is an installation that is filled with more and more data, to measure what the data cost. Most data is in
// one room, the hall.
type Dataset struct {
	target *Target
	group  *group // the users that create the data
	size   Size
	effort float64 // the part of the measured operations that is made; 1: all
}

// Size is an amount of data.
type Size struct {
	Packets int `json:"packets"` // open packets in the hall
	Rooms   int `json:"rooms"`   // rooms besides the hall
	Members int `json:"members"` // members of the hall
	Entries int `json:"entries"` // entries of the hall
}

// Times returns a size with n times as much of everything.
func (s Size) Times(n int) Size {
	return Size{Packets: s.Packets * n, Rooms: s.Rooms * n, Members: s.Members * n, Entries: s.Entries * n}
}

// fillers is the number of users that create the data of the hall: they send its entries and packets. They are its
// first members.
const fillers = 32

// NewDataset creates the hall with its first members, and no other data.
func NewDataset(ctx context.Context, t *Target) (*Dataset, error) {
	c, err := newGroup(t, Plan{Scenario: "dataset", Users: fillers})
	if err != nil {
		return nil, err
	}
	h := &Dataset{target: t, group: c}
	if err := c.makeRooms(ctx, 1, func(int) *user { return c.users[0] }); err != nil {
		return nil, err
	}
	return h, each(ctx, c.users, func(ctx context.Context, i int, u *user) error {
		if err := t.credit(ctx, u.id, datasetFunds, c.key("credit", i)); err != nil {
			return err
		}
		return c.join(ctx, u, c.rooms[0])
	})
}

const datasetFunds = int64(1e12)

// Grow adds data until the installation has the given size.
func (h *Dataset) Grow(ctx context.Context, to Size) error {
	c, hall := h.group, h.group.rooms[0].id
	if err := c.makeRooms(ctx, to.Rooms-h.size.Rooms, func(i int) *user { return c.users[i%fillers] }); err != nil {
		return err
	}
	for _, part := range []struct {
		from, to int
		add      func(ctx context.Context, n int) error
	}{
		{max(h.size.Members, fillers), to.Members, func(ctx context.Context, n int) error {
			id, token, err := h.target.Tokens.user(c.run, n)
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
