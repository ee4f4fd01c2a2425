package pgstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// stateColumns and stateJoins make up the state of packets p as the user $1 sees it. The alias m is the user's own
// claim. l is the luckiest claim, which is marked only when the packet is done.
var (
	stateColumns = `p.id, p.status, p.refunded,
		case when p.status = 'open' then (select count(*) from claims where packet_id = p.id) else p.claimed end, ` +
		paidColumns("m", "mu") + `, ` + paidColumns("l", "lu")
	stateJoins = `
		left join claims m on m.packet_id = p.id and m.user_id = $1 left join users mu on mu.id = m.user_id
		left join claims l on l.packet_id = p.id and l.luckiest left join users lu on lu.id = l.user_id `
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

func scanState(rs pgx.Rows) (redpacket.State, error) {
	var s storedState
	err := rs.Scan(s.into()...)
	return s.value(), err
}

// States implements redpacket.Ledger.
func (s *Store) States(ctx context.Context, user string, packets []string) (states []redpacket.State, err error) {
	packets = slices.DeleteFunc(slices.Clone(packets), func(id string) bool { return !storableID(id) })
	err = s.withReader(ctx, func(r reader) error {
		states, err = rows(r, scanState, `select `+stateColumns+`
			from unnest($2::text[]) with ordinality asked (id, place) join packets p on p.id = asked.id`+stateJoins+`
			order by asked.place`, user, packets)
		return err
	})
	return states, outcome("read states", err)
}
