package tables

import (
	"context"
	"math"
	"time"

	"hongbao/store/cursor"
	"hongbao/store/security"
)

// AddAct implements security.Store.
func (t Tables) AddAct(ctx context.Context, a security.Act) error {
	return exec(ctx, t.db, "store act", `insert into admin_acts (id, at, instance, actor, person, client, method, request, request_id, reason) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		on conflict (id) do nothing`, a.ID, a.At.UnixMilli(), a.Instance, a.Actor, a.Person, a.Client, a.Method, a.Request, a.RequestID, a.Reason)
}

// AddCounts implements security.Store.
func (t Tables) AddCounts(ctx context.Context, counts []security.Count) error {
	return Outcome("store counts", t.db.Write(ctx, func(w Tx) error {
		var b Batch
		for _, c := range counts {
			b.Exec(`insert into security_counts (minute, instance, kind, origin, count) values ($1, $2, $3, $4, $5) on conflict do nothing`,
				c.Minute.UnixMilli(), c.Instance, c.Kind, c.Origin, c.N)
		}
		return w.Send(&b)
	}))
}

// DropCounts implements security.Store.
func (t Tables) DropCounts(ctx context.Context, before time.Time) error {
	return exec(ctx, t.db, "delete counts", `delete from security_counts where minute < $1`, before.UnixMilli())
}

// DropActs implements security.Store.
func (t Tables) DropActs(ctx context.Context, before time.Time, limit int) error {
	return exec(ctx, t.db, "delete acts", `delete from admin_acts where id in (select id from admin_acts where at < $1 order by at limit $2)`, before.UnixMilli(), limit)
}

const actColumns = `id, at, instance, actor, person, client, method, request, request_id, reason`

var scanAct = into(func(a *security.Act) []any {
	return []any{&a.ID, Time(&a.At), &a.Instance, &a.Actor, &a.Person, &a.Client, &a.Method, &a.Request, &a.RequestID, &a.Reason}
})

// ActsAfter implements security.Store.
func (t Tables) ActsAfter(ctx context.Context, after string, before time.Time, limit int) (acts []security.Act, next string, err error) {
	at, id := int64(0), ""
	if after != "" {
		if err := cursor.Parse("acts", after, &at, &id); err != nil {
			return nil, "", err
		}
	}
	acts, err = list(ctx, t.db, "read acts", scanAct, `select `+actColumns+` from admin_acts where (at, id) > ($1, $2) and at < $3 order by at, id limit $4`,
		at, id, before.UnixMilli(), limit)
	if err != nil {
		return nil, "", err
	}
	if n := len(acts); n > 0 {
		after = cursor.Make("acts", acts[n-1].At.UnixMilli(), acts[n-1].ID)
	}
	return acts, after, nil
}

// ActsBefore implements security.Store.
func (t Tables) ActsBefore(ctx context.Context, before string, limit int) (acts []security.Act, next string, err error) {
	at, id := int64(math.MaxInt64), ""
	if before != "" {
		if err := cursor.Parse("acts-newest", before, &at, &id); err != nil {
			return nil, "", err
		}
	}
	acts, err = list(ctx, t.db, "read acts", scanAct, `select `+actColumns+` from admin_acts where (at, id) < ($1, $2) order by at desc, id desc limit $3`, at, id, limit)
	if err != nil {
		return nil, "", err
	}
	if n := len(acts); n > 0 {
		before = cursor.Make("acts-newest", acts[n-1].At.UnixMilli(), acts[n-1].ID)
	}
	return acts, before, nil
}

// Counts implements security.Store.
func (t Tables) Counts(ctx context.Context, limit int) ([]security.Count, error) {
	return list(ctx, t.db, "read counts", into(func(c *security.Count) []any {
		return []any{Time(&c.Minute), &c.Instance, &c.Kind, &c.Origin, &c.N}
	}), `select minute, instance, kind, origin, count from security_counts
		order by minute desc, `+t.db.Bytes(`instance`)+`, `+t.db.Bytes(`kind`)+`, `+t.db.Bytes(`origin`)+` limit $1`, limit)
}
