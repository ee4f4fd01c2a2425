package tables

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

const fundingColumns = `id, user_id, room_id, key, total, state, asked_at, asks`

func fundingFields(f *redpacket.Funding) []any {
	return []any{&f.ID, &f.User, &f.Room, &f.Key, &f.Total, &f.State, Time(&f.AskedAt), &f.Asks}
}

// OpenFunding implements redpacket.Fundings.
func (t Tables) OpenFunding(ctx context.Context, f redpacket.Funding) (redpacket.Funding, error) {
	return write(ctx, t.db, "open funding", func(w Tx, _ redpacket.Funding) (got redpacket.Funding, err error) {
		_, err = w.Row(`insert into fundings (bucket, user_id, id, room_id, key, total, state, asked_at, asks) values ($1, $2, $3, $4, $5, $6, 'asked', $7, 1)
			on conflict (bucket, user_id, room_id, key) where state <> 'reversed' do update set
				asks = fundings.asks + case fundings.state when 'asked' then 1 else 0 end,
				asked_at = case when fundings.state = 'asked' and fundings.asked_at < excluded.asked_at then excluded.asked_at else fundings.asked_at end
			returning `+fundingColumns,
			[]any{chat.UserBucket(f.User), f.User, f.ID, f.Room, f.Key, f.Total, f.AskedAt.UnixMilli()}, fundingFields(&got)...)
		if err == nil && got.Total != f.Total {
			err = chat.ErrKeyReused
		}
		return got, err
	})
}

// DropFunding implements redpacket.Fundings.
func (t Tables) DropFunding(ctx context.Context, f redpacket.Funding) error {
	return exec(ctx, t.db, "drop funding", `delete from fundings where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' and asks = 1`,
		chat.UserBucket(f.User), f.User, f.ID)
}

// NoOtherFunding is a condition: the user $2, whose bucket is $1, has no funding other than $3 with the host's key $4.
const NoOtherFunding = `not exists (select 1 from fundings o where o.bucket = $1 and o.user_id = $2 and o.host_key = $4 and o.id <> $3)`

// ReverseFunding implements redpacket.Fundings.
func (t Tables) ReverseFunding(ctx context.Context, f redpacket.Funded, at time.Time) (done bool, _ error) {
	return write(ctx, t.db, "reverse funding", func(w Tx, _ bool) (done bool, err error) {
		known := redpacket.Funded{Funding: f.Funding}
		found, err := w.Row(`update fundings set state = 'reversed', settled_at = $6, amount = $5,
				host_key = case when `+NoOtherFunding+` then nullif($4, '') end
			where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' returning room_id, key, amount, coalesce(host_key, '')`,
			[]any{chat.UserBucket(f.User), f.User, f.ID, f.HostKey, f.Amount, at.UnixMilli()},
			&known.Room, &known.Key, &known.Amount, &known.HostKey)
		if err != nil || !found {
			return false, err
		}
		details, err := known.Details()
		w.Events().User(eventlog.TransferReversed, f.User, details)
		return true, err
	})
}

// AskedFundings implements redpacket.Fundings.
func (t Tables) AskedFundings(ctx context.Context, before time.Time, limit int) ([]redpacket.Funding, error) {
	return list(ctx, t.db, "list fundings", into(fundingFields), `select `+fundingColumns+` from fundings where state = 'asked' and asked_at < $1 order by asked_at limit $2`, before.UnixMilli(), limit)
}
