package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

const walletColumns = `balance, version, frozen_at, limit_sent, limit_received, limit_packets`

func scanWallet(rs pgx.Rows) (w redpacket.Wallet, err error) {
	var frozen int64
	err = rs.Scan(&w.User, &w.Balance, &w.Version, &frozen, &w.Own.Sent, &w.Own.Received, &w.Own.Packets)
	if frozen != 0 {
		w.FrozenAt = fromMillis(frozen)
	}
	return w, err
}

// Wallets implements redpacket.Ledger.
func (s *Store) Wallets(ctx context.Context, users []string) (all []redpacket.Wallet, err error) {
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, scanWallet, `select u.id, coalesce(balance, 0), coalesce(version, 0), coalesce(frozen_at, 0),
				limit_sent, limit_received, limit_packets
			from unnest($1::text[]) with ordinality i (id, n) join users u on u.id = i.id left join wallets w on w.user_id = u.id order by i.n`, users)
		return err
	})
	return all, outcome("read wallets", err)
}

// WalletsAfter implements redpacket.Ledger.
func (s *Store) WalletsAfter(ctx context.Context, after string, limit int) (all []redpacket.Wallet, err error) {
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, scanWallet, `select user_id, `+walletColumns+` from wallets where user_id > $1 order by user_id limit $2`, after, limit)
		return err
	})
	return all, outcome("list wallets", err)
}

// FreezeWallet implements redpacket.Ledger.
func (s *Store) FreezeWallet(ctx context.Context, user string, frozen bool, at time.Time) (redpacket.Wallet, error) {
	since := int64(0)
	if frozen {
		since = at.UnixMilli()
	}
	return s.changeWallet(ctx, "freeze wallet", `insert into wallets (user_id, balance, frozen_at) select id, 0, $2 from users where id = $1
		on conflict (user_id) do update set frozen_at = case when excluded.frozen_at <> 0 and wallets.frozen_at <> 0 then wallets.frozen_at else excluded.frozen_at end
		returning user_id, `+walletColumns, user, since)
}

// SetOwnLimits implements redpacket.Ledger.
func (s *Store) SetOwnLimits(ctx context.Context, user string, own redpacket.OwnLimits) (redpacket.Wallet, error) {
	return s.changeWallet(ctx, "set limits", `insert into wallets (user_id, balance, limit_sent, limit_received, limit_packets)
		select id, 0, $2, $3, $4 from users where id = $1
		on conflict (user_id) do update set limit_sent = excluded.limit_sent, limit_received = excluded.limit_received, limit_packets = excluded.limit_packets
		returning user_id, `+walletColumns, user, own.Sent, own.Received, own.Packets)
}

// changeWallet runs a statement that changes one wallet and returns it, or no row if there is no such user.
func (s *Store) changeWallet(ctx context.Context, doing, sql string, args ...any) (redpacket.Wallet, error) {
	var changed []redpacket.Wallet
	err := s.tx(ctx, func(w *writer) (err error) {
		changed, err = rows(w, scanWallet, sql, args...)
		return err
	})
	if err == nil && len(changed) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return redpacket.Wallet{}, outcome(doing, err)
	}
	return changed[0], nil
}

// dayUse sums what a user has sent and received on a day. The key of transfers begins with user and time.
const dayUse = `select w.limit_sent, w.limit_received, w.limit_packets, t.sent, t.received, t.packets
	from (select coalesce(sum(amount) filter (where kind = 'send'), 0)::bigint as sent, coalesce(sum(amount) filter (where kind = 'claim'), 0)::bigint as received,
			count(*) filter (where kind = 'send') as packets
		from transfers where user_id = $1 and at >= $2 and at < $3 and kind in ('send', 'claim')) t
	left join wallets w on w.user_id = $1`

// queueDayUse makes the batch read what the user has sent and received on the day.
func queueDayUse(b *pgx.Batch, user string, day redpacket.Day, used *redpacket.DayUse) {
	b.Queue(dayUse, user, day.From.UnixMilli(), day.To.UnixMilli()).QueryRow(func(row pgx.Row) error { return row.Scan(dayUseInto(used)...) })
}

func dayUseInto(used *redpacket.DayUse) []any {
	return []any{&used.Own.Sent, &used.Own.Received, &used.Own.Packets, &used.Sent, &used.Received, &used.Packets}
}

// DayUse implements redpacket.Ledger.
func (s *Store) DayUse(ctx context.Context, user string, day redpacket.Day) (used redpacket.DayUse, err error) {
	err = s.withReader(ctx, func(r reader) error {
		_, err := r.row(dayUse, []any{user, day.From.UnixMilli(), day.To.UnixMilli()}, dayUseInto(&used)...)
		return err
	})
	return used, outcome("read the day of a user", err)
}
