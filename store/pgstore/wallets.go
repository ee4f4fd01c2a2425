package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/tables"
)

// queueDayUse makes the batch read what the user has sent and received in packets on the day, and the user's own limits.
func queueDayUse(b *pgx.Batch, user string, day redpacket.Day, used *redpacket.DayUse) {
	b.Queue(tables.DayUseQuery, user, day.From.UnixMilli(), day.To.UnixMilli()).QueryRow(func(row pgx.Row) error { return row.Scan(tables.DayUseInto(used)...) })
}
