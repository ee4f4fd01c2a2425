package tables

import (
	"context"
	"math"
	"time"

	"hongbao/store/cursor"
	"hongbao/store/trail"
)

// AddRefusals implements trail.Store.
func (t Tables) AddRefusals(ctx context.Context, refusals []trail.Refusal) error {
	return Outcome("store refusals", t.db.Write(ctx, func(w Tx) error {
		var b Batch
		for _, r := range refusals {
			b.Exec(`insert into refusals (packet_id, user_id, why, at) values ($1, $2, $3, $4) on conflict do nothing`, r.Packet, r.User, r.Why, r.At.UnixMilli())
		}
		return w.Send(&b)
	}))
}

// DropRefusals implements trail.Store.
func (t Tables) DropRefusals(ctx context.Context, before time.Time, most, limit int) (int, error) {
	return t.dropOld(ctx, "refusals", before, most, limit)
}

// dropOld deletes rows of a table of package trail. Numbers are given in about the order of time, and some are left out.
func (t Tables) dropOld(ctx context.Context, table string, before time.Time, most, limit int) (int, error) {
	return write(ctx, t.db, "delete "+table, func(w Tx, _ int) (int, error) {
		n, err := w.Exec(`delete from `+table+` where no in (select no from `+table+` where at < $1 order by at limit $2)`, before.UnixMilli(), limit)
		if err != nil || int(n) == limit {
			return int(n), err
		}
		over, err := w.Exec(`delete from `+table+` where no in (select no from `+table+` where no <= (select max(no) from `+table+`) - $1 order by no limit $2)`, most, limit-int(n))
		return int(n + over), err
	})
}

var scanRefusal = into(func(r *trail.Refusal) []any { return []any{&r.Packet, &r.User, &r.Why, Time(&r.At)} })

// RefusalsOf implements trail.Store.
func (t Tables) RefusalsOf(ctx context.Context, user, after string, limit int) (refusals []trail.Refusal, next string, err error) {
	at, packet, why := int64(math.MaxInt64), "", ""
	if after != "" {
		if err := cursor.Parse("refusals-of", after, &at, &packet, &why); err != nil {
			return nil, "", err
		}
	}
	found, err := list(ctx, t.db, "read refusals", scanRefusal, `select packet_id, user_id, why, at from refusals where user_id = $1 and (at, packet_id, why) < ($2, $3, $4)
		order by at desc, packet_id desc, why desc limit $5`, user, at, packet, why, limit+1)
	if err != nil || len(found) <= limit {
		return found, "", err
	}
	last := found[limit-1]
	return found[:limit], cursor.Make("refusals-of", last.At.UnixMilli(), last.Packet, last.Why), nil
}

// RefusalsAt implements trail.Store.
func (t Tables) RefusalsAt(ctx context.Context, packet, after string, limit int) (refusals []trail.Refusal, next string, err error) {
	at, user, why := int64(math.MinInt64), "", ""
	if after != "" {
		if err := cursor.Parse("refusals-at", after, &at, &user, &why); err != nil {
			return nil, "", err
		}
	}
	found, err := list(ctx, t.db, "read refusals", scanRefusal, `select packet_id, user_id, why, at from refusals where packet_id = $1 and (at, user_id, why) > ($2, $3, $4)
		order by at, user_id, why limit $5`, packet, at, user, why, limit+1)
	if err != nil || len(found) <= limit {
		return found, "", err
	}
	last := found[limit-1]
	return found[:limit], cursor.Make("refusals-at", last.At.UnixMilli(), last.User, last.Why), nil
}

// AddSockets implements trail.Store.
func (t Tables) AddSockets(ctx context.Context, events []trail.SocketEvent) error {
	return Outcome("store events of sockets", t.db.Write(ctx, func(w Tx) error {
		var b Batch
		for _, e := range events {
			b.Exec(`insert into sockets (user_id, socket, at, what, code) values ($1, $2, $3, $4, $5)`, e.User, e.Socket, e.At.UnixMilli(), e.What, e.Code)
		}
		return w.Send(&b)
	}))
}

// DropSockets implements trail.Store.
func (t Tables) DropSockets(ctx context.Context, before time.Time, most, limit int) (int, error) {
	return t.dropOld(ctx, "sockets", before, most, limit)
}

// storedSocket is a row of sockets.
type storedSocket struct {
	trail.SocketEvent
	no int64
}

var scanSocket = into(func(s *storedSocket) []any { return []any{&s.no, &s.User, &s.Socket, Time(&s.At), &s.What, &s.Code} })

// SocketsOf implements trail.Store.
func (t Tables) SocketsOf(ctx context.Context, user, after string, limit int) (events []trail.SocketEvent, next string, err error) {
	at, no := int64(math.MaxInt64), int64(math.MaxInt64)
	if after != "" {
		if err := cursor.Parse("sockets-of", after, &at, &no); err != nil {
			return nil, "", err
		}
	}
	found, err := list(ctx, t.db, "read events of sockets", scanSocket, `select no, user_id, socket, at, what, code from sockets
		where user_id = $1 and (at, no) < ($2, $3) order by at desc, no desc limit $4`, user, at, no, limit+1)
	if err != nil {
		return nil, "", err
	}
	if len(found) > limit {
		found = found[:limit]
		next = cursor.Make("sockets-of", found[limit-1].At.UnixMilli(), found[limit-1].no)
	}
	for _, row := range found {
		events = append(events, row.SocketEvent)
	}
	return events, next, nil
}
