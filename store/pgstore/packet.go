package pgstore

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// packetColumns are what never changes and everyone may know, of packets p.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key`

// packetInto scans packetColumns into p.
func packetInto(p *redpacket.Packet) []any {
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, &p.To, &p.Passphrase, storedTime{&p.CreatedAt}, storedTime{&p.ExpiresAt},
		&p.Commitment, &p.Key,
	}
}

// Packet implements redpacket.Ledger.
func (s *Store) Packet(ctx context.Context, id string) (p redpacket.Packet, err error) {
	if !possible(id) {
		return redpacket.Packet{}, chat.ErrNotFound
	}
	err = s.look(ctx, func(r reader) error {
		p, err = readPacket(r, id)
		return err
	})
	return p, outcome("read packet", err)
}

func readPacket(q querier, id string) (p redpacket.Packet, err error) {
	found, err := q.row(`select `+packetColumns+` from packets p where p.id = $1`, []any{id}, packetInto(&p)...)
	if err == nil && !found {
		err = chat.ErrNotFound
	}
	return tidy(p), err
}

// tidy makes a read packet equal to the one that was sent.
func tidy(p redpacket.Packet) redpacket.Packet {
	if len(p.To) == 0 {
		p.To = nil
	}
	return p
}

// Image implements redpacket.Ledger. Both statements go in one round trip, and yet the second sees what was committed
// after the first: claims only grow, so whoever joins the image into a Pool misses none of a packet that was closed.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	if !possible(id) {
		return redpacket.Image{}, chat.ErrNotFound
	}
	err = s.look(ctx, func(r reader) error {
		i = redpacket.Image{}
		b := &pgx.Batch{}
		b.Queue(`select id, partition, count, expires_at, status from packets where id = $1`, id).QueryRow(func(row pgx.Row) error {
			return ifAny(row.Scan(&i.ID, &i.Partition, &i.Count, storedTime{&i.Deadline}, &i.Status))
		})
		b.Queue(`select user_id, share_no from claims where packet_id = $1 order by share_no`, id).Query(func(rs pgx.Rows) (err error) {
			i.Grants, err = collect(rs, scanGrant)
			return err
		})
		if err := r.batch(b); err != nil {
			return err
		}
		return known(i.ID)
	})
	if err != nil {
		return redpacket.Image{}, outcome("read image", err)
	}
	return i, nil
}

// ifAny takes no row for an answer: an error would make the driver forget what it knows of all the batch's statements.
func ifAny(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// possible tells whether an id, which may come from a client as it is, can be in the database at all. If not, Postgres
// would fail rather than find nothing.
func possible(id string) bool { return utf8.ValidString(id) && !strings.ContainsRune(id, 0) }

// known tells whether the packet that was asked for was found.
func known(id string) error {
	if id == "" {
		return chat.ErrNotFound
	}
	return nil
}

func scanGrant(rs pgx.Rows) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}

// Overdue implements redpacket.Ledger.
func (s *Store) Overdue(ctx context.Context, before time.Time, limit int) (all []redpacket.Overdue, err error) {
	err = s.look(ctx, func(r reader) error {
		all, err = rows(r, scanOverdue, `select id, partition, expires_at from packets
			where status = 'open' and expires_at < $1 order by expires_at, id limit $2`, before.UnixMilli(), limit)
		return err
	})
	return all, outcome("list overdue packets", err)
}

func scanOverdue(rs pgx.Rows) (o redpacket.Overdue, err error) {
	err = rs.Scan(&o.ID, &o.Partition, storedTime{&o.ExpiresAt})
	return o, err
}
