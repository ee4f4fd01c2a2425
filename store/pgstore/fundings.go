package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

const fundingColumns = `id, user_id, room_id, key, total, state, asked_at, asks`

func fundingFields(f *redpacket.Funding) []any {
	return []any{&f.ID, &f.User, &f.Room, &f.Key, &f.Total, &f.State, storedTime{&f.AskedAt}, &f.Asks}
}

// OpenFunding implements redpacket.Fundings.
func (s *Store) OpenFunding(ctx context.Context, f redpacket.Funding) (redpacket.Funding, error) {
	var got redpacket.Funding
	err := s.tx(ctx, func(w *writer) error {
		_, err := w.row(`insert into fundings (bucket, user_id, id, room_id, key, total, state, asked_at, asks) values ($1, $2, $3, $4, $5, $6, 'asked', $7, 1)
			on conflict (bucket, user_id, room_id, key) where state <> 'reversed' do update set
				asks = fundings.asks + case fundings.state when 'asked' then 1 else 0 end,
				asked_at = case fundings.state when 'asked' then greatest(fundings.asked_at, excluded.asked_at) else fundings.asked_at end
			returning `+fundingColumns,
			[]any{chat.UserBucket(f.User), f.User, f.ID, f.Room, f.Key, f.Total, f.AskedAt.UnixMilli()}, fundingFields(&got)...)
		if err == nil && got.Total != f.Total {
			return chat.ErrKeyReused
		}
		return err
	})
	if err != nil {
		return redpacket.Funding{}, outcome("open funding", err)
	}
	return got, nil
}

// DropFunding implements redpacket.Fundings.
func (s *Store) DropFunding(ctx context.Context, f redpacket.Funding) error {
	return outcome("drop funding", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from fundings where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' and asks = 1`,
			chat.UserBucket(f.User), f.User, f.ID)
		return err
	}))
}

// noOtherFunding is true if the user has no other funding with the host's key $4.
const noOtherFunding = `not exists (select 1 from fundings o where o.bucket = $1 and o.user_id = $2 and o.host_key = $4 and o.id <> $3)`

// ReverseFunding implements redpacket.Fundings.
func (s *Store) ReverseFunding(ctx context.Context, f redpacket.Funded, at time.Time) (done bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		done = false
		known := redpacket.Funded{Funding: f.Funding}
		found, err := w.row(`update fundings f set state = 'reversed', settled_at = $6, amount = $5,
				host_key = case when `+noOtherFunding+` then nullif($4, '') end
			where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' returning room_id, key, amount, coalesce(host_key, '')`,
			[]any{chat.UserBucket(f.User), f.User, f.ID, f.HostKey, f.Amount, at.UnixMilli()},
			&known.Room, &known.Key, &known.Amount, &known.HostKey)
		if err != nil || !found {
			return err
		}
		details, err := known.Details()
		w.refs.User(eventlog.TransferReversed, f.User, details)
		done = err == nil
		return err
	})
	return done && err == nil, outcome("reverse funding", err)
}

// AskedFundings implements redpacket.Fundings.
func (s *Store) AskedFundings(ctx context.Context, before time.Time, limit int) (all []redpacket.Funding, err error) {
	err = s.withReader(ctx, func(r reader) error {
		all, err = rows(r, func(rs pgx.Rows) (f redpacket.Funding, err error) {
			err = rs.Scan(fundingFields(&f)...)
			return f, err
		}, `select `+fundingColumns+` from fundings where state = 'asked' and asked_at < $1 order by asked_at limit $2`, before.UnixMilli(), limit)
		return err
	})
	return all, outcome("list fundings", err)
}

// takeFunding makes the funding of a packet sent and credits its amount to the sender. The caller must call circulate at the end
// of the transaction. The row of the funding is locked from here on, so nothing else can reverse it.
func (w *writer) takeFunding(o redpacket.UnsealedPacket) error {
	f, credit := o.Funded, o.FundingCredit()
	details, err := f.Details()
	if err != nil {
		return err
	}
	m := transfer{
		id: credit.ID, at: credit.At, user: credit.User, debit: outside, credit: userParty(credit.User), amount: credit.Amount,
		kind: redpacket.TransferCredit, key: credit.Key, hash: credit.Hash, actor: credit.Actor, requestID: credit.RequestID, details: details,
	}
	n, err := w.exec(`update fundings set state = 'sent', settled_at = $6, amount = $5, host_key = $4, packet_id = $7
		where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' and `+noOtherFunding,
		chat.UserBucket(f.User), f.User, f.ID, f.HostKey, f.Amount, o.Packet.CreatedAt.UnixMilli(), o.Packet.ID)
	if err != nil {
		return err
	}
	if n == 0 {
		return w.fundingRefused(*f)
	}
	if m.link, err = w.chained(m.leaf()); err != nil {
		return err
	}
	var (
		b        pgx.Batch
		recorded int64
	)
	w.queueTransfer(&b, m).Exec(affected(&recorded))
	queueCredit(&b, []string{f.User}, []redpacket.Money{f.Amount})
	if err := w.sendBatch(&b); err != nil {
		return err
	}
	if recorded == 0 { // an operator has used the key
		return chat.ErrConflict
	}
	return nil
}

// fundingRefused returns why a packet cannot be sent with the funding.
func (w *writer) fundingRefused(f redpacket.Funded) error {
	var asked bool
	if _, err := w.row(`select state = 'asked' from fundings where bucket = $1 and user_id = $2 and id = $3`,
		[]any{chat.UserBucket(f.User), f.User, f.ID}, &asked); err != nil {
		return err
	}
	if asked { // another funding of the user has the host's key
		return chat.ErrConflict
	}
	return f.Void()
}

// circulate adds a credit to the money in circulation. It locks the only row of the table until the commit, so it must come last.
func (w *writer) circulate(credit redpacket.Money) error {
	var (
		b           pgx.Batch
		circulating redpacket.Money
	)
	queueCirculation(&b, credit, &circulating)
	err := w.sendBatch(&b)
	if err == nil && circulating > redpacket.MaxMoney {
		err = amountLimit("is more than the %d that may still be credited", max(0, redpacket.MaxMoney+credit-circulating))
	}
	return err
}
