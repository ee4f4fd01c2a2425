package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

const walletColumns = `balance, version, frozen_at, limit_sent, limit_received, limit_packets`

func scanWallet(rs *sql.Rows) (w redpacket.Wallet, err error) {
	err = rs.Scan(walletInto(&w)...)
	return w, err
}

func walletInto(w *redpacket.Wallet) []any {
	return []any{&w.User, &w.Balance, &w.Version, storedTimeOrZero{&w.FrozenAt}, &w.Own.Sent, &w.Own.Received, &w.Own.Packets}
}

// storedTimeOrZero is storedTime, but 0 is the zero time.
type storedTimeOrZero struct{ into *time.Time }

// Scan implements sql.Scanner.
func (t storedTimeOrZero) Scan(v any) error {
	if v == int64(0) {
		*t.into = time.Time{}
		return nil
	}
	return storedTime(t).Scan(v)
}

// Wallets implements redpacket.Ledger.
func (s *Store) Wallets(ctx context.Context, users []string) ([]redpacket.Wallet, error) {
	list, err := json.Marshal(users)
	if err != nil {
		return nil, err
	}
	all, err := rows(reader{ctx, s.read}, scanWallet, `select u.id, coalesce(balance, 0), coalesce(version, 0), coalesce(frozen_at, 0),
			limit_sent, limit_received, limit_packets
		from json_each(?) i join users u on u.id = i.value left join wallets w on w.user_id = u.id order by i.key`, list)
	return all, outcome("read wallets", err)
}

// WalletsAfter implements redpacket.Ledger.
func (s *Store) WalletsAfter(ctx context.Context, after string, limit int) ([]redpacket.Wallet, error) {
	all, err := rows(reader{ctx, s.read}, scanWallet, `select user_id, `+walletColumns+` from wallets where user_id > ? order by user_id limit ?`, after, limit)
	return all, outcome("list wallets", err)
}

// FreezeWallet implements redpacket.Ledger.
func (s *Store) FreezeWallet(ctx context.Context, user string, frozen bool, at time.Time) (redpacket.Wallet, error) {
	since := int64(0)
	if frozen {
		since = at.UnixMilli()
	}
	return s.changeWallet(ctx, "freeze wallet", `insert into wallets (user_id, balance, frozen_at) select id, 0, ? from users where id = ?
		on conflict (user_id) do update set frozen_at = case when excluded.frozen_at <> 0 and frozen_at <> 0 then frozen_at else excluded.frozen_at end
		returning user_id, `+walletColumns, since, user)
}

// SetOwnLimits implements redpacket.Ledger.
func (s *Store) SetOwnLimits(ctx context.Context, user string, own redpacket.OwnLimits) (redpacket.Wallet, error) {
	return s.changeWallet(ctx, "set limits", `insert into wallets (user_id, balance, limit_sent, limit_received, limit_packets)
		select id, 0, ?, ?, ? from users where id = ?
		on conflict (user_id) do update set limit_sent = excluded.limit_sent, limit_received = excluded.limit_received, limit_packets = excluded.limit_packets
		returning user_id, `+walletColumns, own.Sent, own.Received, own.Packets, user)
}

// changeWallet runs a statement that changes one wallet and returns it, or no row if there is no such user.
func (s *Store) changeWallet(ctx context.Context, doing, query string, args ...any) (changed redpacket.Wallet, err error) {
	err = s.do(ctx, func(w *writer) error {
		changed = redpacket.Wallet{}
		found, err := w.row(query, args, walletInto(&changed)...)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	if err != nil {
		return redpacket.Wallet{}, outcome(doing, err)
	}
	return changed, nil
}

// dayUse sums what a user has sent and received on a day. The key of transfers begins with user and time.
const dayUse = `select w.limit_sent, w.limit_received, w.limit_packets, t.sent, t.received, t.packets
	from (select coalesce(sum(amount) filter (where kind = 'send'), 0) as sent, coalesce(sum(amount) filter (where kind = 'claim'), 0) as received,
			count(*) filter (where kind = 'send') as packets
		from transfers where user_id = ?1 and at >= ?2 and at < ?3 and kind in ('send', 'claim')) t
	left join wallets w on w.user_id = ?1`

func readDayUse(q querier, user string, day redpacket.Day) (used redpacket.DayUse, err error) {
	_, err = q.row(dayUse, []any{user, day.From.UnixMilli(), day.To.UnixMilli()},
		&used.Own.Sent, &used.Own.Received, &used.Own.Packets, &used.Sent, &used.Received, &used.Packets)
	return used, err
}

// DayUse implements redpacket.Ledger.
func (s *Store) DayUse(ctx context.Context, user string, day redpacket.Day) (redpacket.DayUse, error) {
	used, err := readDayUse(reader{ctx, s.read}, user, day)
	return used, outcome("read the day of a user", err)
}

// limitDay fails if the packet goes over what its sender may send a day.
func (w *writer) limitDay(o redpacket.UnsealedPacket) error {
	if !o.LimitsSends() {
		return nil
	}
	used, err := readDayUse(w, o.Packet.From.ID, o.Day())
	if err != nil {
		return err
	}
	return o.CheckDay(used)
}
