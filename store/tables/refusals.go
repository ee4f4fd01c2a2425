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

// DropRefusals implements trail.Store. Numbers are given in about the order of time, and some are left out.
func (t Tables) DropRefusals(ctx context.Context, before time.Time, most, limit int) (int, error) {
	return write(ctx, t.db, "delete refusals", func(w Tx, _ int) (int, error) {
		n, err := w.Exec(`delete from refusals where no in (select no from refusals where at < $1 order by at limit $2)`, before.UnixMilli(), limit)
		if err != nil || int(n) == limit {
			return int(n), err
		}
		over, err := w.Exec(`delete from refusals where no in (select no from refusals where no <= (select max(no) from refusals) - $1 order by no limit $2)`, most, limit-int(n))
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
