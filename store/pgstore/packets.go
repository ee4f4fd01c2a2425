package pgstore

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/cursor"
)

// packetList describes in SQL the packets that a user has sent, or those received: the tables and the sort key. The
// sort key is at, the time that the query's period refers to, and then id.
type packetList struct {
	from, user, at, id string
	totals             string // count, amount, luckiest
}

// packetLists has the list for each direction.
var packetLists = map[redpacket.Direction]packetList{
	redpacket.DirSent: {
		from: `packets p`, user: `p.sender`, at: `p.created_at`, id: `p.id`,
		totals: `count(*), coalesce(sum(p.total - p.refunded), 0)::bigint, 0::bigint`,
	},
	redpacket.DirReceived: {
		from: `transfers t join claims c on c.packet_id = t.packet_id and c.user_id = t.user_id join packets p on p.id = t.packet_id`,
		user: `t.kind = 'claim' and t.user_id`, at: `t.at`, id: `t.packet_id`,
		totals: `count(*), coalesce(sum(c.amount), 0)::bigint, count(*) filter (where c.luckiest)`,
	},
}

// Packets implements redpacket.Ledger. A received packet counts at the time of its claim. Totals.Amount of sent packets
// is their total less their refunds. Luckiest counts only received packets.
func (s *Store) Packets(ctx context.Context, q redpacket.PacketsQuery) (page redpacket.PacketsPage, err error) {
	at, id := int64(math.MaxInt64), ""
	if q.Next != "" {
		if err := cursor.Parse(string(q.Direction), q.Next, &at, &id); err != nil {
			return redpacket.PacketsPage{}, err
		}
	}
	list := packetLists[q.Direction]
	period := []any{q.User, millisOr(q.From, math.MinInt64), millisOr(q.To, math.MaxInt64)}
	where := ` where ` + list.user + ` = $1 and ` + list.at + ` >= $2 and ` + list.at + ` < $3`
	err = s.withReader(ctx, func(r reader) error {
		return r.sendBatch(oneSnapshot(func(b *pgx.Batch) {
			b.Queue(`select `+list.totals+` from `+list.from+where, period...).QueryRow(func(row pgx.Row) error {
				return row.Scan(&page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest)
			})
			b.Queue(`select `+packetColumns+`, `+stateColumns+`, `+list.at+` from `+list.from+stateJoins+where+`
				and (`+list.at+`, `+list.id+`) < ($4, $5) order by `+list.at+` desc, `+list.id+` desc limit $6`,
				append(period[:3:3], at, id, q.Limit+1)...).Query(func(rs pgx.Rows) error {
				listedPacket, err := collect(rs, r.scanListedPacket)
				page.Packets, page.Next = onePage(q, listedPacket)
				return err
			})
		}))
	})
	if err != nil {
		return redpacket.PacketsPage{}, outcome("list packets", err)
	}
	return page, nil
}

// listedPacket is a packet of a list, with the time by which it is sorted.
type listedPacket struct {
	redpacket.PacketState
	at int64
}

func onePage(q redpacket.PacketsQuery, all []listedPacket) (page []redpacket.PacketState, next string) {
	for _, l := range all {
		page = append(page, l.PacketState)
	}
	if fit := redpacket.Fitting(page, q.Limit); fit < len(page) {
		page = page[:fit]
		next = cursor.Make(string(q.Direction), all[fit-1].at, page[fit-1].Packet.ID)
	}
	return page, next
}

func (r reader) scanListedPacket(rs pgx.Rows) (l listedPacket, err error) {
	var (
		stored storedPacket
		state  storedState
	)
	if err := rs.Scan(append(append(stored.into(), state.into()...), &l.at)...); err != nil {
		return listedPacket{}, err
	}
	l.State = state.value()
	l.Packet, err = stored.value(r.keys)
	return l, err
}

func millisOr(t time.Time, unbounded int64) int64 {
	if t.IsZero() {
		return unbounded
	}
	return t.UnixMilli()
}
