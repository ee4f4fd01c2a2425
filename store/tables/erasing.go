package tables

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/chain"
	"hongbao/store/eventlog"
)

// The erasure of a user takes many transactions. BeginErasure removes what is stored of the user outside of rooms. Then each step takes one thing:
// the user leaves a room, or some of the user's entries in it lose names and texts. The row of erasures has the place of the last step, and each
// step changes it in its own transaction, so an erasure goes on where a killed process has left it. When no room is left, the last steps
// remove what may only go now, such as the passphrases of packets that were open.
//
// Whatever is hashed keeps its hash: the seal of a name or a text becomes the hash that stands for it (package chain).

const (
	erasedAtOnce = 50   // entries of the user that one step changes
	erasureLooks = 2000 // entries of a room among which one step looks for them
	// erasureWaits is how long an erasure that must wait is left alone.
	erasureWaits = time.Minute
	// commandsEnd is how long after its begin an erasure ends at the earliest. Until then, commands of the user may run that began before it: an
	// instance that has lost the notice accepts the user's tokens for 10 s, and a command runs for 10 s at most.
	commandsEnd = 30 * time.Second
	// roomDone is the seq of an erasure whose room has nothing left.
	roomDone = math.MaxInt64
)

const erasureColumns = `user_id, texts, asked_at, done_at, waits, entries, room_id, seq`

// storedErasure is a row of erasures.
type storedErasure struct {
	chat.Erasure
	room string // of the last step
	seq  int64  // how far the step came in it
}

func (e *storedErasure) into() []any {
	return []any{&e.User, &e.Texts, Time(&e.AskedAt), timeOrZero(&e.DoneAt), &e.Waits, &e.Entries, &e.room, &e.seq}
}

// readErasure returns the erasure of a user with the number of rooms that are left, or chat.ErrNotFound.
func readErasure(q Querier, user string) (chat.Erasure, error) {
	e, err := one(q, into((*storedErasure).into), `select `+erasureColumns+` from erasures where user_id = $1`, user)
	if err == nil && e.DoneAt.IsZero() {
		_, err = q.Row(`select count(*) from members where user_id = $1 and (room_id > $2 or room_id = $2 and $3 = 1)`,
			[]any{user, e.room, unless(e.seq == roomDone)}, &e.RoomsLeft)
	}
	return e.Erasure, err
}

// unless returns 0 if the condition is true, else 1, for statements: a boolean argument has another type in each database.
func unless(condition bool) int {
	if condition {
		return 0
	}
	return 1
}

// Erasure implements chat.Store.
func (t Tables) Erasure(ctx context.Context, user string) (chat.Erasure, error) {
	return read(ctx, t.db, "read erasure", func(q Querier) (chat.Erasure, error) { return readErasure(q, user) })
}

// BeginErasure implements chat.Store.
func (t Tables) BeginErasure(ctx context.Context, e chat.NewErasure) (chat.Erasure, error) {
	return write(ctx, t.db, "begin erasure", func(w Tx, _ chat.Erasure) (chat.Erasure, error) { return beginErasure(w, e) })
}

func beginErasure(w Tx, e chat.NewErasure) (chat.Erasure, error) {
	if err := refuseHeld(w, e.User); err != nil {
		return chat.Erasure{}, err
	}
	if _, err := w.Exec(`insert into erasures (user_id, texts, asked_at, next_at) values ($1, $2, $3, $3)
		on conflict (user_id) do update set texts = excluded.texts, asked_at = excluded.asked_at, next_at = excluded.next_at, done_at = 0, waits = '', room_id = '', seq = 0
		where excluded.texts and not erasures.texts`, e.User, e.Texts, e.At.UnixMilli()); err != nil {
		return chat.Erasure{}, err
	}
	erased, err := w.Exec(`update users set erased_at = $2, suspended_at = case when suspended_at = 0 then $2 else suspended_at end where id = $1 and erased_at = 0`,
		e.User, e.At.UnixMilli())
	if err != nil {
		return chat.Erasure{}, err
	}
	if _, err := readRecord(w, e.User); err != nil {
		return chat.Erasure{}, err
	}
	if erased > 0 {
		err = wipeUser(w, e.User)
	}
	if err != nil {
		return chat.Erasure{}, err
	}
	return readErasure(w, e.User)
}

// refuseHeld returns an error if a legal hold of the user, or of a room that the user has been in, forbids an erasure.
func refuseHeld(q Querier, user string) error {
	var kind, id string
	held, err := q.Row(`select kind, id from legal_holds h where kind = 'user' and id = $1
		or kind = 'room' and exists (select 1 from members m where m.room_id = h.id and m.user_id = $1) order by kind desc, id limit 1`, []any{user}, &kind, &id)
	if err == nil && held {
		err = &chat.FieldError{Err: chat.ErrConflict, Field: kind, Reason: "is under a legal hold: " + id}
	}
	return err
}

// wipeUser removes what is stored of an erased user outside of rooms. The user's row must be locked.
func wipeUser(w Tx, user string) error {
	w.Wiped()
	if _, err := w.Exec(`update users set name = '', avatar = '', custom = '', contact = 'nobody', code_hash = null where id = $1`, user); err != nil {
		return err
	}
	if _, err := setUserRef(w, user, ""); err != nil {
		return err
	}
	var b Batch
	b.Exec(`delete from pictures where user_id = $1`, user)
	b.Exec(`delete from blocks where user_id = $1`, user)
	b.Exec(`delete from push_subscriptions where user_id = $1`, user)
	b.Exec(`delete from join_requests where user_id = $1`, user)
	b.Exec(`delete from sockets where user_id = $1`, user)
	return w.Send(&b)
}

// DueErasures implements chat.Store.
func (t Tables) DueErasures(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return list(ctx, t.db, "list erasures", ScanText, `select user_id from erasures where done_at = 0 and next_at <= $1 order by next_at, user_id limit $2`, now.UnixMilli(), limit)
}

// PutOffErasure implements chat.Store.
func (t Tables) PutOffErasure(ctx context.Context, user string, until time.Time) error {
	return exec(ctx, t.db, "put off erasure", `update erasures set next_at = $2 where user_id = $1 and done_at = 0`, user, until.UnixMilli())
}

// CountErasures implements chat.Store.
func (t Tables) CountErasures(ctx context.Context, most int) (running, held int, err error) {
	err = t.db.Read(ctx, func(q Querier) error {
		_, err := q.Row(`select count(*), count(*) filter (where waits = 'hold') from (select waits from erasures where done_at = 0 limit $1) e`, []any{most}, &running, &held)
		return err
	})
	return running, held, Outcome("count erasures", err)
}

// EraseStep implements chat.Store.
func (t Tables) EraseStep(ctx context.Context, s chat.ErasureStep) (chat.Erased, error) {
	return write(ctx, t.db, "take a step of an erasure", func(w Tx, before chat.Erased) (chat.Erased, error) {
		e := eraser{Tx: w, ErasureStep: s}
		err := e.step(before)
		return e.out, err
	})
}

// eraser is the transaction of one step.
type eraser struct {
	Tx
	chat.ErasureStep
	storedErasure
	out chat.Erased
}

// step takes the next step. before is the result of an earlier run that may have been committed.
func (e *eraser) step(before chat.Erased) error {
	found, err := e.Row(`select `+erasureColumns+` from erasures where user_id = $1 and done_at = 0`+e.LockFree(), []any{e.ErasureStep.User}, e.into()...)
	if err != nil || !found {
		return err
	}
	if mine, err := e.ranBefore(before); err != nil || mine {
		e.out = before
		return err
	}
	e.out.Found = true
	held, err := e.held(chat.HoldUser, e.User())
	if err != nil {
		return err
	}
	if held {
		return e.wait(chat.WaitsForHold)
	}
	left, err := e.Row(`select room_id from members where user_id = $1 and (room_id > $2 or room_id = $2 and $3 = 1) order by room_id limit 1`,
		[]any{e.User(), e.room, unless(e.seq == roomDone)}, &e.out.Room)
	if err != nil {
		return err
	}
	if !left {
		return e.finish()
	}
	if e.out.Room != e.room {
		e.room, e.seq = e.out.Room, 0
	}
	return e.inRoom()
}

// User returns the user that is erased.
func (e *eraser) User() string { return e.ErasureStep.User }

// ranBefore reports whether the earlier run was committed, as far as anything that must be published shows it.
func (e *eraser) ranBefore(before chat.Erased) (bool, error) {
	if !e.Again() || !before.Found {
		return false, nil
	}
	if before.Left != nil {
		st, err := ReadStanding(e, before.Room, e.User())
		return !st.In, err
	}
	return committedBefore(e, before.Entries...)
}

func (e *eraser) held(kind chat.HoldKind, id string) (bool, error) {
	return e.Row(`select 1 from legal_holds where kind = $1 and id = $2`, []any{kind, id}, new(int))
}

// wait makes the erasure wait.
func (e *eraser) wait(why chat.Waits) error {
	e.out.Found = false
	_, err := e.Exec(`update erasures set waits = $2, next_at = $3 where user_id = $1`, e.User(), why, e.At.Add(erasureWaits).UnixMilli())
	return err
}

// advance stores the place that the step has come to.
func (e *eraser) advance() error {
	_, err := e.Exec(`update erasures set waits = '', room_id = $2, seq = $3, entries = $4 where user_id = $1`, e.User(), e.room, e.seq, e.Entries)
	e.out.Erasure = e.Erasure
	return err
}

// inRoom takes the next step in a room: the user leaves it, the next entries are erased, or the room is done.
func (e *eraser) inRoom() error {
	held, err := e.held(chat.HoldRoom, e.room)
	if err != nil {
		return err
	}
	if held {
		return e.wait(chat.WaitsForHold)
	}
	st, err := ReadStanding(e, e.room, e.User())
	if err != nil {
		return err
	}
	e.out.Deleted = st.RoomDeleted
	if st.In && !st.RoomDeleted {
		left, err := leave(e, chat.Leaving{Room: e.room, User: chat.User{ID: e.User()}, At: e.At, EntryIDs: [2]string{e.NewID(e.At), e.NewID(e.At)}})
		if err != nil {
			return err
		}
		e.out.Left = &left
		return e.advance()
	}
	room, err := ReadRoom(e, e.room)
	if err != nil {
		return err
	}
	if e.seq >= room.LastSeq {
		return e.roomDone()
	}
	return e.entriesOf()
}

// roomDone removes what the user has set in the room besides entries.
func (e *eraser) roomDone() error {
	var b Batch
	b.Exec(`update members set silent = false, silent_until = 0, pinned = false, archived_no = -1, ban_reason = '' where room_id = $1 and user_id = $2`, e.room, e.User())
	b.Exec(`delete from invite_links where room_id = $1 and creator = $2`, e.room, e.User())
	b.Exec(`delete from held_texts where room_id = $1 and user_id = $2`, e.room, e.User())
	if err := e.Send(&b); err != nil {
		return err
	}
	e.seq = roomDone
	return e.advance()
}

// ownEntry is an entry of the user with what is needed to erase it.
type ownEntry struct {
	chat.Subject
	chain.Seals
}

func scanOwnEntry(row Row) (o ownEntry, err error) {
	var fold storedFold
	if err := row.Scan(append(EntryInto(&o.Entry), &fold, &o.Name, &o.Text)...); err != nil {
		return o, err
	}
	o.Fold, err = fold.Fold()
	return o, err
}

// entriesOf erases the next entries of the user in the room. It reads them without a lock first, to lock their packets before the room.
func (e *eraser) entriesOf() error {
	through := e.seq + erasureLooks
	own, err := List(e, scanOwnEntry, `select `+EntryColumns+`, fold, name_seal, text_seal from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 and seq <= $3 and sender = $4 order by seq limit $5`, e.room, e.seq, through, e.User(), erasedAtOnce)
	if err != nil {
		return err
	}
	if len(own) == erasedAtOnce {
		through = own[len(own)-1].Entry.Seq
	}
	if err := e.erasePackets(own); err != nil {
		return err
	}
	room, err := LockRoom(e, e.room)
	if err != nil {
		return err
	}
	if e.out.Changed = len(own) > 0; e.out.Changed {
		e.Wiped()
	}
	for _, o := range own {
		if err := e.eraseEntry(&room, o.Entry.Seq); err != nil {
			return err
		}
	}
	e.seq = min(through, room.LastSeq)
	e.Entries += int64(len(own))
	return e.advance()
}

// erasePackets erases names and texts of the packets that the entries announce. A packet that is open keeps its passphrase, which grabs need.
func (e *eraser) erasePackets(own []ownEntry) error {
	for _, o := range own {
		if o.Entry.Kind != chat.KindPacket {
			continue
		}
		var body struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(o.Entry.Body, &body); err != nil || body.ID == "" {
			continue // the audit reports such an entry
		}
		if err := e.erasePacket(body.ID); err != nil {
			return err
		}
		e.out.Packets = true
	}
	return nil
}

func (e *eraser) erasePacket(id string) error {
	var name, avatar, greeting, passphrase string
	var s chain.Seals
	found, err := e.Row(`select sender_name, sender_avatar, greeting, passphrase, name_seal, text_seal from packets
		where id = $1 /*! and bucket = bucket_of($1) */ and sender = $2`+e.Lock(), []any{id, e.User()}, &name, &avatar, &greeting, &passphrase, &s.Name, &s.Text)
	if err != nil || !found {
		return err
	}
	nameHash, textHash := chain.Sealed(s.Name, name, avatar), chain.Sealed(s.Text, greeting, passphrase)
	_, err = e.Exec(`update packets set sender_name = '', sender_avatar = '', greeting = '', passphrase = case when status = 'open' then passphrase else '' end,
		name_seal = $2, text_seal = $3 where id = $1 /*! and bucket = bucket_of($1) */`, id, nameHash[:], textHash[:])
	return err
}

// eraseEntry erases the name and, if they go, the texts of an entry. The room must be locked.
func (e *eraser) eraseEntry(room *chat.Room, seq int64) error {
	o, err := one(e, scanOwnEntry, `select `+EntryColumns+`, fold, name_seal, text_seal from entries
		where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room.ID, seq)
	if err != nil {
		return err
	}
	switch {
	case o.Entry.Kind == chat.KindPacket:
		err = e.eraseGreeting(o)
	case o.Entry.Kind == chat.KindText && e.Texts && o.Fold.RecallSeq == 0:
		err = e.recall(room, &o.Subject)
	case o.Entry.Kind == chat.KindReact && e.Texts:
		err = e.eraseReaction(room, o)
	}
	if err != nil {
		return err
	}
	hash := chain.Sealed(o.Name, o.Entry.From.Name, o.Entry.From.Avatar)
	_, err = e.Exec(`update entries set sender_name = '', sender_avatar = '', name_seal = $3 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room.ID, seq, hash[:])
	return err
}

// putBody replaces the body of an entry, and makes the seal of a body that was still there the hash that stands for it.
func (e *eraser) putBody(o ownEntry, body json.RawMessage) error {
	hash := chain.Sealed(o.Text, string(o.Entry.Body))
	_, err := e.Exec(`update entries set body = $3, text_seal = $4 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`,
		o.Entry.Room, o.Entry.Seq, string(body), hash[:])
	return err
}

// eraseGreeting erases the greeting and the name in the entry of a packet.
func (e *eraser) eraseGreeting(o ownEntry) error {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(o.Entry.Body, &body); err != nil {
		return err
	}
	from, err := chat.Body(chat.User{ID: e.User()})
	if err != nil {
		return err
	}
	body["from"], body["greeting"] = from, json.RawMessage(`""`)
	erased, err := chat.Body(body)
	if err != nil {
		return err
	}
	changed := o.Entry
	changed.Body = erased
	var b Batch
	if err := reindex(e, &b, o.Entry, changed); err != nil {
		return err
	}
	if err := e.Send(&b); err != nil {
		return err
	}
	return e.putBody(o, erased)
}

// recall recalls a text as an admin would. So its edits, reactions, mentions, files and words in the index go, and clients see a recalled text.
func (e *eraser) recall(room *chat.Room, s *chat.Subject) error {
	return e.amend(room, s, chat.Amendment{Kind: chat.KindRecall, Room: room.ID, Target: s.Entry.Seq})
}

// eraseReaction takes back a reaction, if it is still there, and erases the entry that records it.
func (e *eraser) eraseReaction(room *chat.Room, o ownEntry) error {
	var r chat.Reaction
	if err := json.Unmarshal(o.Entry.Body, &r); err != nil {
		return err
	}
	had, err := e.Exec(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4`,
		room.ID, r.Target, r.Emoji, e.User())
	if err != nil {
		return err
	}
	if had > 0 {
		target, err := one(e, scanOwnEntry, `select `+EntryColumns+`, fold, name_seal, text_seal from entries
			where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room.ID, r.Target)
		if err != nil {
			return err
		}
		target.Reacted = true
		if err := e.amend(room, &target.Subject, chat.Amendment{Kind: chat.KindReact, Room: room.ID, Target: r.Target, Emoji: r.Emoji}); err != nil {
			return err
		}
	}
	erased, err := chat.Body(chat.Reaction{Target: r.Target})
	if err != nil {
		return err
	}
	return e.putBody(o, erased)
}

// amend carries out an amendment of the system.
func (e *eraser) amend(room *chat.Room, s *chat.Subject, a chat.Amendment) error {
	a.By, a.At, a.ID = chat.System, e.At, e.NewID(e.At)
	to, err := a.Apply(chat.Standing{}, s, room.LastSeq+1)
	if err != nil || !to.Changed {
		return err
	}
	note, err := recordAmendment(e, room, a, s, to)
	e.out.Entries = append(e.out.Entries, note)
	return err
}

// finish takes one of the last steps: those outside of rooms.
func (e *eraser) finish() error {
	for _, step := range []func() (left bool, err error){e.reports, e.files, e.passphrases, e.commands} {
		if left, err := step(); err != nil || left {
			return err
		}
	}
	e.DoneAt = Millis(e.At.UnixMilli())
	if _, err := e.Row(`select id from users where id = $1`+e.Lock(), []any{e.User()}, new(string)); err != nil {
		return err
	}
	if err := wipeUser(e, e.User()); err != nil {
		return err
	}
	if _, err := e.Exec(`delete from held_texts where user_id = $1`, e.User()); err != nil { // of commands that began before the erasure
		return err
	}
	e.Events().User(eventlog.UserErased, e.User(), nil)
	if _, err := e.Exec(`update erasures set done_at = $2, waits = '' where user_id = $1`, e.User(), e.At.UnixMilli()); err != nil {
		return err
	}
	e.out.Erasure, e.out.Packets = e.Erasure, true
	return nil
}

// reports erases the words of the user's reports and appeals and, if texts go, those of reports about the user, which may quote them.
func (e *eraser) reports() (left bool, err error) {
	changed, err := e.Exec(`update reports set words = '', hash = $3 where bucket = $1 and reporter = $2 and words <> ''`, chat.UserBucket(e.User()), e.User(), []byte{})
	if err != nil {
		return false, err
	}
	appeals, err := e.Exec(`update reports set appeal = '' where appeal_by = $1 and appeal <> ''`, e.User())
	if err != nil {
		return false, err
	}
	changed += appeals
	if e.Texts {
		about, err := e.Exec(`update reports set words = '', appeal = '', hash = $2 where about = $1 and words || appeal <> ''`, e.User(), []byte{})
		if err != nil {
			return false, err
		}
		changed += about
	}
	if changed == 0 {
		return false, nil
	}
	e.Wiped()
	return true, e.advance()
}

// files drops the files that the user has not sent and, if texts go, all others. Then it waits until the sweep has removed them. The content of a
// file may stay because another user has sent the same one.
func (e *eraser) files() (left bool, err error) {
	which := ` and seq = 0`
	if e.Texts {
		which = ``
	}
	dropped, err := e.Exec(`update files set state = 'dropped', seq = 0, body = '{}', touched_at = $2 where (room_id, id) in
		(select room_id, id from files where user_id = $1 and (state <> 'dropped' or body <> '{}')`+which+` order by room_id, id limit $3`+e.Lock()+`)`,
		e.User(), e.At.Add(files.DropGrace).UnixMilli(), erasedAtOnce)
	if err != nil {
		return false, err
	}
	if dropped > 0 {
		e.Wiped()
		return true, e.advance()
	}
	left, err = e.Row(`select 1 from files f where user_id = $1 and state = 'dropped' and not `+needed+` limit 1`, []any{e.User()}, new(int))
	if err == nil && left {
		err = e.wait(chat.WaitsForFiles)
	}
	return left, err
}

// passphrases erases the passphrases of packets that were still open when their texts were erased, and waits for those that are open now.
func (e *eraser) passphrases() (left bool, err error) {
	kept, err := List(e, ScanText, `select id from packets where sender = $1 and passphrase <> '' and status <> 'open' limit $2`, e.User(), erasedAtOnce)
	if err != nil {
		return false, err
	}
	for _, id := range kept {
		if _, err := e.Exec(`update packets set passphrase = '' where id = $1 /*! and bucket = bucket_of($1) */`, id); err != nil {
			return false, err
		}
	}
	if len(kept) > 0 {
		e.Wiped()
		return true, e.advance()
	}
	left, err = e.Row(`select 1 from packets where sender = $1 and passphrase <> '' and done_seq is null limit 1`, []any{e.User()}, new(int))
	if err == nil && left {
		err = e.wait(chat.WaitsForPackets)
	}
	return left, err
}

// commands waits until no command of the user can run any more that began before the erasure.
func (e *eraser) commands() (left bool, err error) {
	if left = e.At.Before(e.AskedAt.Add(commandsEnd)); left {
		err = e.wait(chat.WaitsForCommands)
	}
	return left, err
}
