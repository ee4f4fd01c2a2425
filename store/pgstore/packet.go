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

// packetColumns are the columns of packets p that never change and are public.
const packetColumns = `p.id, p.partition, p.room_id, p.sender, p.sender_name, p.sender_avatar, p.mode, p.spread,
	p.total, p.count, p.greeting, p.recipients, p.passphrase, p.created_at, p.expires_at, p.commitment, p.key`

// packetInto returns the destinations to scan packetColumns into p.
func packetInto(p *redpacket.Packet) []any {
	return []any{
		&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.From.Name, &p.From.Avatar, &p.Mode, &p.Spread,
		&p.Total, &p.Count, &p.Greeting, &p.To, &p.Passphrase, storedTime{&p.CreatedAt}, storedTime{&p.ExpiresAt},
		&p.Commitment, &p.Key,
	}
}

// Packet implements redpacket.Ledger.
func (s *Store) Packet(ctx context.Context, id string) (p redpacket.Packet, err error) {
	if !storableID(id) {
		return redpacket.Packet{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
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
	return normalized(p), err
}

// normalized makes a packet that was read equal to the one that was sent: an empty list of recipients becomes nil.
func normalized(p redpacket.Packet) redpacket.Packet {
	if len(p.To) == 0 {
		p.To = nil
	}
	return p
}

// Image implements redpacket.Ledger. It runs two statements in one round trip, and the second may see later commits
// than the first. Claims are only added, so the image of a closed packet is complete.
func (s *Store) Image(ctx context.Context, id string) (i redpacket.Image, err error) {
	if !storableID(id) {
		return redpacket.Image{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		i = redpacket.Image{}
		b := &pgx.Batch{}
		b.Queue(`select id, partition, count, expires_at, status from packets where id = $1`, id).QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&i.ID, &i.Partition, &i.Count, storedTime{&i.Deadline}, &i.Status))
		})
		b.Queue(`select user_id, share_no from claims where packet_id = $1 order by share_no`, id).Query(func(rs pgx.Rows) (err error) {
			i.Grants, err = collect(rs, scanGrant)
			return err
		})
		if err := r.sendBatch(b); err != nil {
			return err
		}
		return foundPacket(i.ID)
	})
	if err != nil {
		return redpacket.Image{}, outcome("read image", err)
	}
	return i, nil
}

// noRowsOK returns nil for pgx.ErrNoRows. As the result of a callback, that error would make the driver discard what
// it has cached about all statements of the batch.
func noRowsOK(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// storableID reports whether an id, which may be untrusted input, can occur in the database. With other texts,
// Postgres would return an error instead of no row.
func storableID(id string) bool { return utf8.ValidString(id) && !strings.ContainsRune(id, 0) }

// foundPacket returns chat.ErrNotFound if no packet was read.
func foundPacket(id string) error {
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
func (s *Store) Overdue(ctx context.Context, before time.Time, after redpacket.Overdue, limit int) (all []redpacket.Overdue, err error) {
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, scanOverdue, `select id, partition, expires_at from packets
			where status = 'open' and expires_at < $1 and (expires_at, id) > ($2, $3) order by expires_at, id limit $4`,
			before.UnixMilli(), after.ExpiresAt.UnixMilli(), after.ID, limit)
		return err
	})
	return all, outcome("list overdue packets", err)
}

func scanOverdue(rs pgx.Rows) (o redpacket.Overdue, err error) {
	err = rs.Scan(&o.ID, &o.Partition, storedTime{&o.ExpiresAt})
	return o, err
}
