package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// Book implements redpacket.Ledger.
func (s *Store) Book(ctx context.Context, packet string) (b redpacket.Book, err error) {
	err = s.view(ctx, func(r reader) error {
		b, err = readBook(r, s.keys, packet)
		return err
	})
	if err != nil {
		return redpacket.Book{}, outcome("read book", err)
	}
	return b, nil
}

// readBook reads a packet and its claims with several statements, so q must read from one snapshot.
func readBook(q querier, keys *secret.Keys, packet string) (b redpacket.Book, err error) {
	var (
		stored  storedPacket
		columns secret.Columns
	)
	dest := append(append(stored.into(), &b.Status, &b.Refunded), cutInto(&columns)...)
	found, err := q.row(`select `+packetColumns+`, p.status, p.refunded, `+cutColumns+` from packets p where p.id = ?`,
		[]any{packet}, dest...)
	if err != nil {
		return redpacket.Book{}, err
	}
	if !found {
		return redpacket.Book{}, chat.ErrNotFound
	}
	if b.Packet, err = stored.value(keys); err != nil {
		return redpacket.Book{}, err
	}
	if b.Seed, b.Shares, err = keys.Cut(b.Packet, columns); err != nil {
		return redpacket.Book{}, err
	}
	b.Claims, err = readClaims(q, packet)
	return b, err
}

// readClaims reads a packet's claims, ordered by share.
func readClaims(q querier, packet string) ([]redpacket.Paid, error) {
	return rows(q, scanPaid, `select `+paidColumns("c", "u")+`
		from claims c left join users u on u.id = c.user_id where c.packet_id = ? order by c.share_no`, packet)
}

func scanPaid(rs *sql.Rows) (redpacket.Paid, error) {
	var s storedPaid
	if err := rs.Scan(s.into()...); err != nil {
		return redpacket.Paid{}, err
	}
	return *s.paid(), nil
}

// stateColumns and stateJoins select the state of packets p as the user in the parameter sees it. The alias m is the
// user's own claim. l is the luckiest claim, which is marked only when the packet is finished.
var (
	stateColumns = `p.id, p.status, p.refunded,
		iif(p.status = 'open', (select count(*) from claims where packet_id = p.id), p.claimed), ` +
		paidColumns("m", "mu") + `, ` + paidColumns("l", "lu")
	stateJoins = `
		left join claims m on m.packet_id = p.id and m.user_id = ? left join users mu on mu.id = m.user_id
		left join claims l on l.packet_id = p.id and l.luckiest = 1 left join users lu on lu.id = l.user_id `
)

// storedState scans stateColumns.
type storedState struct {
	state          redpacket.State
	mine, luckiest storedPaid
}

func (s *storedState) into() []any {
	dest := []any{&s.state.Packet, &s.state.Status, &s.state.Refunded, &s.state.Claimed}
	dest = append(dest, s.mine.into()...)
	return append(dest, s.luckiest.into()...)
}

func (s *storedState) value() redpacket.State {
	s.state.Mine, s.state.Luckiest = s.mine.paid(), s.luckiest.paid()
	return s.state
}

func scanState(rs *sql.Rows) (redpacket.State, error) {
	var s storedState
	err := rs.Scan(s.into()...)
	return s.value(), err
}

// States implements redpacket.Ledger.
func (s *Store) States(ctx context.Context, user string, packets []string) ([]redpacket.State, error) {
	list, err := json.Marshal(packets)
	if err != nil {
		return nil, err
	}
	states, err := rows(reader{ctx, s.read}, scanState, `select `+stateColumns+`
		from json_each(?) asked cross join packets p on p.id = asked.value`+stateJoins+`order by asked.key`, string(list), user)
	return states, outcome("read states", err)
}
