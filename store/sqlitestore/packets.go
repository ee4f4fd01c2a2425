package sqlitestore

import (
	"context"
	"database/sql"
	"math"
	"time"

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
		totals: `count(*), coalesce(sum(p.total - p.refunded), 0), 0`,
	},
	redpacket.DirReceived: {
		from: `transfers t join claims c on c.packet_id = t.packet_id and c.user_id = t.user_id join packets p on p.id = t.packet_id`,
		user: `t.kind = 'claim' and t.user_id`, at: `t.at`, id: `t.packet_id`,
		totals: `count(*), coalesce(sum(c.amount), 0), coalesce(sum(c.luckiest), 0)`,
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
	where := ` where ` + list.user + ` = ? and ` + list.at + ` >= ? and ` + list.at + ` < ?`
	err = s.view(ctx, func(r reader) error {
		if _, err := r.row(`select `+list.totals+` from `+list.from+where, period,
			&page.Totals.Count, &page.Totals.Amount, &page.Totals.Luckiest); err != nil {
			return err
		}
		args := append(append([]any{q.User}, period...), at, id, q.Limit+1)
		placed, err := rows(r, s.scanPlaced, `select `+packetColumns+`, `+stateColumns+`, `+list.at+
			` from `+list.from+stateJoins+where+` and (`+list.at+`, `+list.id+`) < (?, ?)
			order by `+list.at+` desc, `+list.id+` desc limit ?`, args...)
		if err != nil {
			return err
		}
		page.Packets, page.Next = onePage(q, placed)
		return nil
	})
	if err != nil {
		return redpacket.PacketsPage{}, outcome("list packets", err)
	}
	return page, nil
}

// placed is a packet of a list, with the time by which it is sorted.
type placed struct {
	redpacket.PacketState
	at int64
}

func onePage(q redpacket.PacketsQuery, all []placed) (page []redpacket.PacketState, next string) {
	for _, l := range all {
		page = append(page, l.PacketState)
	}
	if fit := redpacket.Fitting(page, q.Limit); fit < len(page) {
		page = page[:fit]
		next = cursor.Make(string(q.Direction), all[fit-1].at, page[fit-1].Packet.ID)
	}
	return page, next
}

func (s *Store) scanPlaced(rs *sql.Rows) (l placed, err error) {
	var (
		stored storedPacket
		state  storedState
	)
	if err := rs.Scan(append(append(stored.into(), state.into()...), &l.at)...); err != nil {
		return placed{}, err
	}
	l.State = state.value()
	l.Packet, err = stored.value(s.keys)
	return l, err
}

func millisOr(t time.Time, unbounded int64) int64 {
	if t.IsZero() {
		return unbounded
	}
	return t.UnixMilli()
}
