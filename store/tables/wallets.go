package tables

import (
	"context"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

const walletColumns = `balance, version, frozen_at, limit_sent, limit_received, limit_packets`

var scanWallet = into(func(w *redpacket.Wallet) []any {
	return []any{&w.User, &w.Balance, &w.Version, timeOrZero(&w.FrozenAt), &w.Own.Sent, &w.Own.Received, &w.Own.Packets}
})

// Wallets implements redpacket.Ledger.
func (t Tables) Wallets(ctx context.Context, users []string) ([]redpacket.Wallet, error) {
	return list(ctx, t.db, "read wallets", scanWallet, FirstOnCitus(
		Of("w", "wallets", `bucket = any(buckets_of($1::text[])) and user_id = any($1::text[])`))+`select u.id, coalesce(balance, 0), coalesce(version, 0), coalesce(frozen_at, 0),
				limit_sent, limit_received, limit_packets
			from `+t.db.InOrder(1)+` i join users u on u.id = i.value left join /*one*/ wallets /*end*/ w on w.user_id = u.id order by i.n`, t.db.List(users))
}

// WalletsAfter implements redpacket.Ledger.
func (t Tables) WalletsAfter(ctx context.Context, after string, limit int) ([]redpacket.Wallet, error) {
	return list(ctx, t.db, "list wallets", scanWallet, `select user_id, `+walletColumns+` from wallets where user_id > $1 order by user_id limit $2`, after, limit)
}

// FreezeWallet implements redpacket.Ledger.
func (t Tables) FreezeWallet(ctx context.Context, user string, frozen bool, at time.Time) (redpacket.Wallet, error) {
	since := int64(0)
	if frozen {
		since = at.UnixMilli()
	}
	return t.changeWallet(ctx, "freeze wallet", `insert into wallets (/*! bucket, */ user_id, balance, frozen_at) select /*! bucket_of($1), */ id, 0, $2 from users where id = $1
		on conflict (/*! bucket, */ user_id) do update set frozen_at = case when excluded.frozen_at <> 0 and wallets.frozen_at <> 0 then wallets.frozen_at else excluded.frozen_at end
		returning user_id, `+walletColumns, user, since)
}

// SetOwnLimits implements redpacket.Ledger.
func (t Tables) SetOwnLimits(ctx context.Context, user string, own redpacket.OwnLimits) (redpacket.Wallet, error) {
	return t.changeWallet(ctx, "set limits", `insert into wallets (/*! bucket, */ user_id, balance, limit_sent, limit_received, limit_packets)
		select /*! bucket_of($1), */ id, 0, $2, $3, $4 from users where id = $1
		on conflict (/*! bucket, */ user_id) do update set limit_sent = excluded.limit_sent, limit_received = excluded.limit_received, limit_packets = excluded.limit_packets
		returning user_id, `+walletColumns, user, own.Sent, own.Received, own.Packets)
}

// changeWallet runs a statement that changes one wallet and returns its row. If the statement returns no row,
// changeWallet returns chat.ErrNotFound: there is no such user.
func (t Tables) changeWallet(ctx context.Context, doing, query string, args ...any) (redpacket.Wallet, error) {
	return write(ctx, t.db, doing, func(w Tx, _ redpacket.Wallet) (redpacket.Wallet, error) { return one(w, scanWallet, query, args...) })
}

// DayUseQuery sums what the user $1 has sent and received in packets from $2 on and before $3, and counts the packets sent.
// It also reads the user's own limits. A limit that is not set is null. The query is fast, because the primary key of transfers
// begins with user and time, on Citus after the bucket.
const DayUseQuery = `select w.limit_sent, w.limit_received, w.limit_packets, t.sent, t.received, t.packets
	from (select cast(coalesce(sum(amount) filter (where kind = 'send'), 0) as bigint) as sent, cast(coalesce(sum(amount) filter (where kind = 'claim'), 0) as bigint) as received,
			count(*) filter (where kind = 'send') as packets
		from transfers where user_id = $1 /*! and bucket = bucket_of($1) */ and at >= $2 and at < $3 and kind in ('send', 'claim')) t
	left join /*one*/ wallets /*end*/ /*! (select * from wallets where user_id = $1 and bucket = bucket_of($1)) */ w on w.user_id = $1`

// DayUseInto returns the destinations of DayUseQuery.
func DayUseInto(used *redpacket.DayUse) []any {
	return []any{&used.Own.Sent, &used.Own.Received, &used.Own.Packets, &used.Sent, &used.Received, &used.Packets}
}

// DayUse implements redpacket.Ledger.
func (t Tables) DayUse(ctx context.Context, user string, day redpacket.Day) (redpacket.DayUse, error) {
	return read(ctx, t.db, "read the day of a user", func(q Querier) (redpacket.DayUse, error) { return ReadDayUse(q, user, day) })
}

// ReadDayUse reads what a user has sent and received in packets on a day, and the user's limits.
func ReadDayUse(q Querier, user string, day redpacket.Day) (used redpacket.DayUse, err error) {
	if used.Self, _, err = ReadSelfLimits(q, user, ""); err != nil {
		return used, err
	}
	_, err = q.Row(DayUseQuery, []any{user, day.From.UnixMilli(), day.To.UnixMilli()}, DayUseInto(&used)...)
	return used, err
}

// SelfLimitsColumns are what SelfLimitsInto scans of the table users.
const SelfLimitsColumns = `self_sent, self_sent_next, self_sent_at, self_received, self_received_next, self_received_at`

// SelfLimitsInto returns the destinations of SelfLimitsColumns.
func SelfLimitsInto(l *redpacket.SelfLimits) []any {
	return []any{&l.Sent.Most, &l.Sent.Next, timeOrZero(&l.Sent.From), &l.Received.Most, &l.Received.Next, timeOrZero(&l.Received.From)}
}

// ReadSelfLimits reads the limits that a user has set, and locks the user's row if lock is not empty.
func ReadSelfLimits(q Querier, user, lock string) (l redpacket.SelfLimits, found bool, err error) {
	found, err = q.Row(`select `+SelfLimitsColumns+` from users where id = $1`+lock, []any{user}, SelfLimitsInto(&l)...)
	return l, found, err
}

// SetSelfLimits implements redpacket.Ledger.
func (t Tables) SetSelfLimits(ctx context.Context, user string, c redpacket.SelfLimitsChange, now time.Time) error {
	return Outcome("set the limits of a user", t.db.Write(ctx, func(w Tx) error {
		l, found, err := ReadSelfLimits(w, user, w.Lock())
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		if err != nil {
			return err
		}
		l = l.Change(c, now)
		_, err = w.Exec(`update users set self_sent = $2, self_sent_next = $3, self_sent_at = $4, self_received = $5, self_received_next = $6, self_received_at = $7
			where id = $1`, user, l.Sent.Most, l.Sent.Next, millisOr(l.Sent.From, 0), l.Received.Most, l.Received.Next, millisOr(l.Received.From, 0))
		return err
	}))
}

// CheckAmount refuses an adjustment of 0, and one of more than redpacket.MaxMoney.
func CheckAmount(amount redpacket.Money) error {
	switch {
	case amount == 0:
		return chat.BadField("amount", "must not be 0")
	case amount > redpacket.MaxMoney, amount < -redpacket.MaxMoney:
		return tooMuch("must be at most %d", redpacket.MaxMoney)
	}
	return nil
}

// CheckCirculation refuses a credit after which more than redpacket.MaxMoney would circulate.
func CheckCirculation(credit, circulating redpacket.Money) error {
	if credit <= 0 || circulating <= redpacket.MaxMoney {
		return nil
	}
	return tooMuch("is more than the %d that may still be credited", max(0, redpacket.MaxMoney+credit-circulating))
}

func tooMuch(reason string, amount redpacket.Money) error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "amount", Reason: fmt.Sprintf(reason, amount)}
}

// DebitRefusal returns why a debit of a wallet has found no row that is not frozen and holds enough.
func DebitRefusal(q Querier, user string) error {
	frozen, err := q.Row(`select 1 from wallets where user_id = $1 /*! and bucket = bucket_of($1) */ and frozen_at <> 0`, []any{user}, new(int))
	switch {
	case err != nil:
		return err
	case frozen:
		return redpacket.ErrWalletFrozen
	}
	return redpacket.ErrInsufficientBalance
}
