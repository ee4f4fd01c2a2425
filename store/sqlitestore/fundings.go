package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"time"

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
	err := s.do(ctx, func(w *writer) error {
		_, err := w.row(`insert into fundings (bucket, user_id, id, room_id, key, total, state, asked_at, asks) values (?, ?, ?, ?, ?, ?, 'asked', ?, 1)
			on conflict (bucket, user_id, room_id, key) where state <> 'reversed' do update set
				asks = asks + iif(state = 'asked', 1, 0), asked_at = iif(state = 'asked', max(asked_at, excluded.asked_at), asked_at)
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
	return outcome("drop funding", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`delete from fundings where bucket = ? and user_id = ? and id = ? and state = 'asked' and asks = 1`,
			chat.UserBucket(f.User), f.User, f.ID)
		return err
	}))
}

// hostKeyUsed reports whether the user has another funding with the host's key.
func (w *writer) hostKeyUsed(f redpacket.Funded) (used bool, err error) {
	_, err = w.row(`select exists (select 1 from fundings where bucket = ? and user_id = ? and host_key = ? and id <> ?)`,
		[]any{chat.UserBucket(f.User), f.User, f.HostKey, f.ID}, &used)
	return used, err
}

// ReverseFunding implements redpacket.Fundings.
func (s *Store) ReverseFunding(ctx context.Context, f redpacket.Funded, at time.Time) (done bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		done = false
		used, err := w.hostKeyUsed(f)
		if err != nil {
			return err
		}
		known := f
		if used {
			known.HostKey = ""
		}
		found, err := w.row(`update fundings set state = 'reversed', settled_at = ?, amount = ?, host_key = nullif(?, '')
			where bucket = ? and user_id = ? and id = ? and state = 'asked' returning room_id, key`,
			[]any{at.UnixMilli(), known.Amount, known.HostKey, chat.UserBucket(f.User), f.User, f.ID}, &known.Room, &known.Key)
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
func (s *Store) AskedFundings(ctx context.Context, before time.Time, limit int) ([]redpacket.Funding, error) {
	all, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (f redpacket.Funding, err error) {
		err = rs.Scan(fundingFields(&f)...)
		return f, err
	}, `select `+fundingColumns+` from fundings where state = 'asked' and asked_at < ? order by asked_at limit ?`, before.UnixMilli(), limit)
	return all, outcome("list fundings", err)
}

// takeFunding makes the funding of a packet sent, and credits its amount to the sender.
func (w *writer) takeFunding(o redpacket.UnsealedPacket) error {
	f := o.Funded
	switch used, err := w.hostKeyUsed(*f); {
	case err != nil:
		return err
	case used:
		return chat.ErrConflict
	}
	res, err := w.exec(`update fundings set state = 'sent', settled_at = ?, amount = ?, host_key = ?, packet_id = ?
		where bucket = ? and user_id = ? and id = ? and state = 'asked'`,
		o.Packet.CreatedAt.UnixMilli(), f.Amount, f.HostKey, o.Packet.ID, chat.UserBucket(f.User), f.User, f.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return cmp.Or(err, f.Void())
	}
	credit := o.FundingCredit()
	dup, err := w.row(`select 1 from transfers where key = ?`, []any{credit.Key}, new(int))
	switch {
	case err != nil:
		return err
	case dup: // an operator has used the key
		return chat.ErrConflict
	}
	details, err := f.Details()
	if err != nil {
		return err
	}
	return w.applyAdjustment(credit, details)
}
