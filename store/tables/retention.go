package tables

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/store/chain"
)

// The retention retires texts that are older than their room keeps them. A step goes through some entries of a room, in their order, and the row of
// retention has the seq up to which it came. A retired text is what a recalled one is, without a recall: its recall_seq is its own seq, and the
// hashes that stand for what it said keep the hash chains whole (package chain).

const retiredAtOnce = 50 // entries that one step goes through

// stopped is a condition: a legal hold stops the retention in the room that the SQL names.
func stopped(room string) string {
	return `exists (select 1 from legal_holds h where h.kind = 'room' and h.id = ` + room + `
		or h.kind = 'user' and exists (select 1 from members m where m.room_id = ` + room + ` and m.user_id = h.id))`
}

var readsRetention = `select r.id, r.kind, coalesce(t.days, 0), coalesce(t.seq, 0), ` + stopped(`r.id`) + `
	from rooms r left join retention t on t.room_id = r.id where r.id = $1`

var scanRetention = into(func(r *chat.RoomRetention) []any { return []any{&r.Room, &r.Kind, &r.Days, &r.Seq, &r.Held} })

// RoomRetention implements chat.Store.
func (t Tables) RoomRetention(ctx context.Context, room string) (chat.RoomRetention, error) {
	return read(ctx, t.db, "read retention", func(q Querier) (chat.RoomRetention, error) { return one(q, scanRetention, readsRetention, room) })
}

// SetRetention implements chat.Store.
func (t Tables) SetRetention(ctx context.Context, room string, days int) (chat.RoomRetention, error) {
	return write(ctx, t.db, "set retention", func(w Tx, _ chat.RoomRetention) (chat.RoomRetention, error) {
		if _, err := w.Exec(`insert into retention (room_id, days) select id, $2 from rooms where id = $1
			on conflict (room_id) do update set days = excluded.days`, room, days); err != nil {
			return chat.RoomRetention{}, err
		}
		return one(w, scanRetention, readsRetention, room)
	})
}

// OldTexts implements chat.Store.
func (t Tables) OldTexts(ctx context.Context, asked chat.RetentionQuery) (rooms []chat.OldTexts, last string, err error) {
	query := `select r.id, r.kind, coalesce(t.days, 0), coalesce(t.seq, 0), false
		from rooms r left join retention t on t.room_id = r.id where r.id > $1 order by r.id limit $2`
	if asked.Days == (chat.KeptDays{}) { // only few rooms have days of their own
		query = `select r.id, r.kind, t.days, t.seq, false from retention t join rooms r on r.id = t.room_id where t.days > 0 and t.room_id > $1 order by t.room_id limit $2`
	}
	all, err := list(ctx, t.db, "list rooms for the retention", scanRetention, query, asked.After, asked.Limit)
	if err != nil {
		return nil, "", err
	}
	if len(all) == asked.Limit {
		last = all[len(all)-1].Room
	}
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		rooms = nil
		for _, r := range all {
			keptSince := keptSince(asked.At, asked.Days.Of(r.Kind, r.Days))
			if keptSince == nil {
				continue
			}
			b.Each(func(row Row) error {
				var at time.Time
				err := row.Scan(Time(&at))
				if at.Before(*keptSince) {
					rooms = append(rooms, chat.OldTexts{Room: r.Room, Late: keptSince.Sub(at)})
				}
				return err
			}, `select at from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, r.Room, r.Seq+1)
		}
	})
	return rooms, last, Outcome("look for old texts", err)
}

// keptSince returns the time before which texts are too old; nil if they are kept for ever.
func keptSince(now time.Time, days int) *time.Time {
	if days == 0 {
		return nil
	}
	since := now.AddDate(0, 0, -days)
	return &since
}

// Retire implements chat.Store.
func (t Tables) Retire(ctx context.Context, s chat.RetireStep) (chat.Retired, error) {
	return write(ctx, t.db, "retire texts", func(w Tx, _ chat.Retired) (chat.Retired, error) { return retire(w, s) })
}

func retire(w Tx, s chat.RetireStep) (chat.Retired, error) {
	if _, err := LockRoom(w, s.Room); err != nil {
		return chat.Retired{}, err
	}
	of, err := one(w, scanRetention, readsRetention, s.Room)
	since := keptSince(s.At, s.Days.Of(of.Kind, of.Days))
	if err != nil || since == nil || of.Held {
		return chat.Retired{Held: of.Held}, err
	}
	entries, err := List(w, scanOwnEntry, `select `+EntryColumns+`, fold, name_seal, text_seal from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 order by seq limit $3`, s.Room, of.Seq, retiredAtOnce)
	if err != nil {
		return chat.Retired{}, err
	}
	old := 0
	for old < len(entries) && entries[old].Entry.At.Before(*since) {
		old++
	}
	if old == 0 {
		return chat.Retired{}, nil
	}
	r := retirement{Tx: w, RetireStep: s}
	if err := r.entries(entries[:old]); err != nil {
		return chat.Retired{}, err
	}
	r.writes.Exec(`insert into retention (room_id, seq) values ($1, $2) on conflict (room_id) do update set seq = excluded.seq`, s.Room, entries[old-1].Entry.Seq)
	return chat.Retired{Texts: r.texts, More: old == retiredAtOnce}, w.Send(&r.writes)
}

// retirement is a step that retires texts. The room is locked.
type retirement struct {
	Tx
	chat.RetireStep

	writes Batch
	texts  int
	words  []wordRecord
}

// entries retires the texts among the entries, whose seqs have no gap.
func (r *retirement) entries(all []ownEntry) error {
	for _, o := range all {
		if o.Entry.Kind != chat.KindText || o.Fold.RecallSeq != 0 {
			continue
		}
		if err := r.text(o); err != nil {
			return err
		}
	}
	if r.texts == 0 {
		return nil
	}
	r.Wiped()
	edits, err := List(r, scanTargeted, `select seq, target, text_seal, body from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and target between $2 and $3 and kind = 'edit'`, r.Room, all[0].Entry.Seq, all[len(all)-1].Entry.Seq)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if !chain.Erased(e.seal) { // those of recalled texts are
			hash := chain.Sealed(e.seal, e.body)
			r.writes.Exec(`update entries set body = $3, text_seal = $4 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`,
				r.Room, e.seq, string(chat.EmptyEdit(e.target)), hash[:])
		}
	}
	if _, _, err := lockIndexed(r, r.Room); err != nil {
		return err
	}
	queueDropWords(r, &r.writes, r.Room, r.words)
	return nil
}

// text makes the batch retire a text. What goes is what a recall by the system would remove.
func (r *retirement) text(o ownEntry) error {
	seq := o.Entry.Seq
	recall := chat.Amendment{Kind: chat.KindRecall, Room: r.Room, Target: seq, By: chat.System, At: r.At}
	to, err := recall.Apply(chat.Standing{}, &o.Subject, seq)
	if err != nil {
		return err
	}
	present, err := o.Entry.Folded(o.Fold)
	if err != nil {
		return err
	}
	fold, err := chat.Body(to.Fold)
	if err != nil {
		return err
	}
	hash := chain.Sealed(o.Text, string(o.Entry.Body))
	r.writes.Exec(`update entries set body = $3, text_seal = $4, fold = $5 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`,
		r.Room, seq, string(chat.RetiredText), hash[:], string(fold))
	queueForgetMentions(r, &r.writes, recall, to, o.Entry.At)
	if len(o.Fold.Reactions) > 0 {
		r.writes.Exec(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, r.Room, seq)
	}
	if to.HasFiles {
		queueDropOfEntry(&r.writes, r.Room, seq, r.At)
	}
	r.words = append(r.words, wordRecords(present)...)
	r.texts++
	return nil
}

// targeted is an edit with what it is about.
type targeted struct {
	seq, target int64
	seal        []byte
	body        string
}

var scanTargeted = into(func(t *targeted) []any { return []any{&t.seq, &t.target, &t.seal, &t.body} })
