package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
)

// storyTransfers reads the sending first, then the claims by share, and the refund last.
const storyTransfers = `
select id, at, amount, kind, packet_id, note, user_id, share_no from (
	select t.id, t.at, iif(t.kind = 'send', -t.amount, t.amount) as amount, t.kind, t.packet_id, t.note, t.user_id, 0 as share_no
		from transfers t where t.packet_id = ?1 and t.kind in ('send', 'refund')
	union all
	select t.id, t.at, t.amount, t.kind, t.packet_id, t.note, t.user_id, c.share_no
		from claims c join transfers t on t.user_id = c.user_id and t.at = c.at and t.id = c.transfer where c.packet_id = ?1)
order by case kind when 'send' then 0 when 'claim' then 1 else 2 end, share_no`

const storyEntries = `select ` + entryColumns + ` from entries
	where (room_id, seq) in (select room_id, seq from packets where id = ?1 union all select room_id, done_seq from packets where id = ?1 and done_seq is not null) order by seq`

// Story implements redpacket.Ledger.
func (s *Store) Story(ctx context.Context, packet string) (story redpacket.Story, err error) {
	err = s.view(ctx, func(r reader) (err error) {
		story = redpacket.Story{}
		if story.Book, err = readBook(r, s.keys, packet); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		if _, err = r.row(`select coalesce(done_seq, 0), coalesce(closed_at, 0) from packets where id = ?`, []any{packet},
			&story.DoneSeq, storedTimeOrZero{&story.ClosedAt}); err != nil {
			return err
		}
		if story.Transfers, err = rows(r, func(rs *sql.Rows) (t redpacket.LedgerTransfer, err error) {
			err = rs.Scan(&t.ID, storedTime{&t.At}, &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.User, &t.Share)
			return t, err
		}, storyTransfers, packet); err != nil {
			return err
		}
		if story.Entries, err = rows(r, scanEntry, storyEntries, packet); err != nil {
			return err
		}
		story.Quarantined, err = rows(r, func(rs *sql.Rows) (q redpacket.Quarantined, err error) {
			err = rs.Scan(storedTime{&q.At}, &q.User, &q.Share, &q.Why)
			return q, err
		}, `select at, user_id, share_no, why from quarantine where packet_id = ? order by id`, packet)
		return err
	})
	if err == nil && story.Book.Packet.ID == "" && len(story.Quarantined) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return redpacket.Story{}, outcome("read the story of a packet", err)
	}
	return story, nil
}
