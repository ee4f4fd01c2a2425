package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Details implements redpacket.Ledger.
func (s *Store) Details(ctx context.Context, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	err = s.view(ctx, func(r reader) error {
		d, err = readDetails(r, s.keys, q)
		return err
	})
	if err != nil {
		return redpacket.DetailsPage{}, tables.Outcome("read details", err)
	}
	return d, nil
}

// readDetails runs several statements, so r must read from one snapshot. Seed and shares of an open packet are
// secret, so they are not read.
func readDetails(r reader, keys *secret.Keys, q redpacket.DetailsQuery) (d redpacket.DetailsPage, err error) {
	var (
		stored tables.StoredPacket
		state  tables.StoredState
	)
	found, err := r.Row(`select `+tables.PacketColumns+`, `+tables.StateColumns+` from packets p`+tables.StateJoins(dialect{})+`where p.id = $2`,
		[]any{q.User, q.Packet}, append(stored.Into(dialect{}), state.Into()...)...)
	if err != nil {
		return redpacket.DetailsPage{}, err
	}
	if !found {
		return redpacket.DetailsPage{}, chat.ErrNotFound
	}
	d.State = state.State()
	if d.Packet, err = stored.Packet(keys); err != nil {
		return redpacket.DetailsPage{}, err
	}
	if d.State.Status != redpacket.Open {
		if _, err := r.Row(`select seed, shares from packets where id = ?`, []any{q.Packet},
			storedSeed{&d.Seed}, storedJSON{&d.Shares}); err != nil {
			return redpacket.DetailsPage{}, err
		}
	}
	d.Claims, err = tables.List(r, tables.ScanPaid, `select `+tables.PaidColumns("c", "u")+` from claims c left join users u on u.id = c.user_id
		where c.packet_id = ? and c.share_no >= ? order by c.share_no limit ?`, q.Packet, q.AfterRank, q.Limit+1)
	if len(d.Claims) > q.Limit {
		d.Claims, d.More = d.Claims[:q.Limit], true
	}
	return d, err
}
