package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

const storyTransfers = `
select t.id, t.at, case when t.kind = 'send' then -t.amount else t.amount end, t.kind, t.packet_id, t.note, t.user_id, 0
	from transfers t where t.packet_id = $1 and t.kind in ('send', 'refund')
union all
select t.id, t.at, t.amount, t.kind, t.packet_id, t.note, t.user_id, c.share_no
	from claims c join transfers t on t.user_id = c.user_id and t.at = c.at and t.id = c.transfer where c.packet_id = $1`

// storyOrder puts the sending first, the claims by share, and the refund last.
const storyOrder = ` order by case kind when 'send' then 0 when 'claim' then 1 else 2 end, share_no`

const storyEntries = `select ` + entryColumns + ` from entries
	where (room_id, seq) in (select room_id, seq from packets where id = $1 union all select room_id, done_seq from packets where id = $1 and done_seq is not null) order by seq`

// Story implements redpacket.Ledger.
func (s *Store) Story(ctx context.Context, packet string) (story redpacket.Story, err error) {
	if !storableID(packet) {
		return redpacket.Story{}, chat.ErrNotFound
	}
	err = s.withReader(ctx, func(r reader) error {
		story = redpacket.Story{}
		batch := oneSnapshot(func(b *pgx.Batch) {
			r.queueBook(b, packet, &story.Book)
			b.Queue(`select coalesce(done_seq, 0), coalesce(closed_at, 0) from packets where id = $1`, packet).QueryRow(func(row pgx.Row) error {
				var closed int64
				err := noRowsOK(row.Scan(&story.DoneSeq, &closed))
				if closed != 0 {
					story.ClosedAt = fromMillis(closed)
				}
				return err
			})
			b.Queue(`select id, at, amount, kind, packet_id, note, user_id, share_no from (`+storyTransfers+`) t (id, at, amount, kind, packet_id, note, user_id, share_no)`+storyOrder, packet).Query(func(rs pgx.Rows) (err error) {
				story.Transfers, err = collect(rs, func(rs pgx.Rows) (t redpacket.LedgerTransfer, err error) {
					err = rs.Scan(&t.ID, storedTime{&t.At}, &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.User, &t.Share)
					return t, err
				})
				return err
			})
			b.Queue(storyEntries, packet).Query(func(rs pgx.Rows) (err error) {
				story.Entries, err = collect(rs, scanEntry)
				return err
			})
			b.Queue(`select at, user_id, share_no, why from quarantine where packet_id = $1 order by id`, packet).Query(func(rs pgx.Rows) (err error) {
				story.Quarantined, err = collect(rs, func(rs pgx.Rows) (q redpacket.Quarantined, err error) {
					err = rs.Scan(storedTime{&q.At}, &q.User, &q.Share, &q.Why)
					return q, err
				})
				return err
			})
		})
		return r.sendBatch(batch)
	})
	if err == nil && story.Book.Packet.ID == "" && len(story.Quarantined) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return redpacket.Story{}, outcome("read the story of a packet", err)
	}
	return story, nil
}
