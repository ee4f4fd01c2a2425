package tables

import (
	"context"
	"time"

	"hongbao/store/chart"
)

// AddFigures implements chart.Store.
func (t Tables) AddFigures(ctx context.Context, instance string, at time.Time, f chart.Figures, before time.Time) error {
	return Outcome("store figures", t.db.Write(ctx, func(w Tx) error {
		var b Batch
		b.Exec(`insert into figures (at, instance, sockets, delivered, won, missed, failed, p99_us, open, escrow) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			on conflict do nothing`, at.UnixMilli(), instance, f.Sockets, f.Delivered, f.Won, f.Missed, f.Failed, f.P99.Microseconds(), f.Open, f.Escrow)
		b.Exec(`delete from figures where at < $1`, before.UnixMilli())
		return w.Send(&b)
	}))
}

var scanPoint = into(func(p *storedPoint) []any {
	return []any{Time(&p.At), &p.Instances, &p.Sockets, &p.Delivered, &p.Won, &p.Missed, &p.Failed, &p.p99, &p.Open, &p.Escrow}
})

// storedPoint is a point whose P99 is in microseconds.
type storedPoint struct {
	chart.Point
	p99 int64
}

// Points implements chart.Store.
func (t Tables) Points(ctx context.Context, from time.Time) ([]chart.Point, error) {
	found, err := list(ctx, t.db, "read figures", scanPoint, `select at, count(*), cast(sum(sockets) as bigint), cast(sum(delivered) as bigint), cast(sum(won) as bigint),
		cast(sum(missed) as bigint), cast(sum(failed) as bigint), max(p99_us), max(open), max(escrow)
		from figures where at >= $1 group by at order by at`, from.UnixMilli())
	points := make([]chart.Point, len(found))
	for i, p := range found {
		p.P99 = time.Duration(p.p99) * time.Microsecond
		points[i] = p.Point
	}
	return points, err
}
