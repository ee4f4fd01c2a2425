package tables

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/chain"
	"hongbao/store/secret"
)

// A draw's row in packets is locked by those that enter it and by the one that draws. So no entry is committed after the draw, none that was
// committed before is missing in it, and the count of participants is exact.

// storedDraw is the row of a draw.
type storedDraw struct {
	status       redpacket.Status
	now          int64
	opens        int64 // 0: at once
	cutoff       int64
	drawnAt      int64
	participants int
	rain         storedRain
}

// readDraw reads the row of a draw, and locks it if lock is not empty. It returns chat.ErrNotFound if there is no such draw.
func readDraw(q Querier, packet, lock string) (d storedDraw, err error) {
	var (
		p       = redpacket.Packet{Ref: redpacket.Ref{ID: packet}}
		windowS int
		columns secret.Columns
	)
	found, err := q.Row(`select status, `+q.Clock()+`, opens_at, expires_at, drawn_at, participants, window_s, sender, key, count, waves, max_wins, waves_drawn,
			wave_entered, wave_size, seed, encrypted_seed from packets
		where id = $1 /*! and bucket = bucket_of($1) */ and window_s > 0`+lock, []any{packet}, &d.status, &d.now, &d.opens, &d.cutoff, &d.drawnAt, &d.participants,
		&windowS, &p.From.ID, &p.Key, &p.Count, &p.Rain.Waves, &p.Rain.MaxWins, &d.rain.drawn, &d.rain.entered, &d.rain.participants, &columns.Seed, &columns.EncryptedSeed)
	switch {
	case err != nil:
		return d, err
	case !found:
		return d, chat.ErrNotFound
	}
	p.Window, p.ExpiresAt = time.Duration(windowS)*time.Second, Millis(d.cutoff)
	d.rain.packet = p
	if p.Rain.Waves > 0 {
		if d.rain.seed, err = q.Keys().Seed(packet, columns); err == nil {
			d.rain.opens = p.Opens(d.rain.seed)
		}
	}
	return d, err
}

// leaf returns the leaf of a user that enters the wave, or the draw if the wave is 0.
func (d *storedDraw) leaf(wave int, user string) proof.Hash {
	return proof.Leaf(d.rain.packet.From.ID, d.rain.packet.Key, uint32(wave), user)
}

// isOpen reports whether users can enter the draw, or a wave of the rain.
func (d *storedDraw) isOpen() bool {
	return d.status == redpacket.Open && d.drawnAt == 0 && !d.early() && d.now < d.cutoff && (len(d.rain.opens) == 0 || d.wave() > 0)
}

// early reports whether the draw has not opened.
func (d *storedDraw) early() bool { return d.now < d.opens }

// Enter implements redpacket.Ledger.
func (t Tables) Enter(ctx context.Context, packet string, users []redpacket.Entrant) (e redpacket.Entering, err error) {
	if !t.db.Storable(packet) {
		return e, chat.ErrNotFound
	}
	err = t.db.Read(ctx, func(q Querier) error { // while users cannot enter, nothing changes
		draw, err := readDraw(q, packet, "")
		if err == nil && (draw.drawnAt != 0 || draw.early() || len(draw.rain.opens) > 0 && !draw.isOpen()) {
			e, err = whoEntered(q, packet, draw, users)
		}
		return err
	})
	if err != nil || e.Status != "" {
		return e, Outcome("enter a draw", err)
	}
	return write(ctx, t.db, "enter a draw", func(w Tx, _ redpacket.Entering) (redpacket.Entering, error) {
		draw, err := readDraw(w, packet, w.Lock())
		if err != nil {
			return redpacket.Entering{}, err
		}
		e, err := whoEntered(w, packet, draw, users)
		if err == nil && draw.isOpen() {
			if users, err = bindEntrants(w, packet, draw.now, users, &e); err == nil {
				err = insertParticipants(w, packet, &draw, users, &e)
			}
		}
		return e, err
	})
}

// whoEntered returns which of the users have entered the draw.
func whoEntered(q Querier, packet string, draw storedDraw, users []redpacket.Entrant) (redpacket.Entering, error) {
	e := redpacket.Entering{Status: draw.status, Early: draw.early(), Wave: draw.wave(), Participants: draw.participants, Entered: map[string]redpacket.Participant{}}
	if draw.rain.packet.Rain.Waves > 0 {
		if e.Participants = 0; e.Wave == 0 {
			return e, nil
		}
		if draw.rain.entered == e.Wave {
			e.Participants = draw.rain.participants
		}
	}
	return e, readEntered(q, packet, e.Wave, users, e.Entered)
}

// readEntered adds to entered those of the users that have entered the draw or wave.
func readEntered(q Querier, packet string, wave int, users []redpacket.Entrant, entered map[string]redpacket.Participant) error {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.User
	}
	return q.Each(func(row Row) error {
		p, err := scanParticipant(row)
		entered[p.User] = p
		return err
	}, `select `+participantColumns+` from participants
		where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave = $3 and user_id `+q.In(2), packet, q.List(ids), wave)
}

// participantRecord is a row of participants as a record for Dialect.Records.
type participantRecord struct {
	User string `json:"user_id"`
	Leaf string `json:"leaf"`
}

// insertParticipants adds those of the users that may enter and have not entered. The draw's row is locked.
func insertParticipants(w Tx, packet string, draw *storedDraw, users []redpacket.Entrant, e *redpacket.Entering) error {
	var (
		rows   []participantRecord
		leaves []chain.Hash
	)
	for _, u := range users {
		if _, before := e.Entered[u.User]; before || u.Refused {
			continue
		}
		p := redpacket.Participant{User: u.User, Wave: e.Wave, Leaf: draw.leaf(e.Wave, u.User), At: Millis(draw.now)}
		rows = append(rows, participantRecord{p.User, hex.EncodeToString(p.Leaf[:])})
		leaves = append(leaves, chain.ParticipantLeaf(packet, p))
		e.Entered[p.User], e.New = p, append(e.New, p.User)
	}
	if len(rows) == 0 {
		return nil
	}
	link, err := w.Chained(leaves...)
	if err != nil {
		return err
	}
	e.Participants += len(rows)
	var b Batch
	b.Exec(`insert into participants (/*! bucket, */ packet_id, wave, user_id, leaf, at, link)
		select /*! bucket_of($1), */ $1, $5, user_id, leaf, $3, $4
		from `+w.Records(2, "n", `user_id text, leaf text`), packet, JSON(rows), draw.now, link, e.Wave)
	b.Exec(`update packets set participants = $2, wave_entered = $3, wave_size = $4 where id = $1 /*! and bucket = bucket_of($1) */`,
		packet, draw.participants+len(rows), e.Wave, e.Participants)
	return w.Send(&b)
}

const participantColumns = `user_id, wave, leaf, at`

func scanParticipant(row Row) (p redpacket.Participant, err error) {
	var leaf string
	if err = row.Scan(&p.User, &p.Wave, &leaf, Time(&p.At)); err != nil {
		return p, err
	}
	raw, err := hex.DecodeString(leaf)
	if err != nil || len(raw) != len(p.Leaf) {
		return p, fmt.Errorf("stored leaf %q of participant %s is no hash", leaf, p.User)
	}
	p.Leaf = proof.Hash(raw)
	return p, nil
}

// Participants implements redpacket.Ledger.
func (t Tables) Participants(ctx context.Context, packet string, wave int, after string, limit int) ([]redpacket.Participant, error) {
	if !t.db.Storable(packet) {
		return nil, nil
	}
	return list(ctx, t.db, "list participants", scanParticipant, `select `+participantColumns+` from participants
		where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave = $4 and user_id > $2 order by user_id limit $3`, packet, after, limit, wave)
}

// readParticipants reads all participants of a draw or wave, sorted by leaf.
func readParticipants(q Querier, packet string, wave int) ([]redpacket.Participant, error) {
	all, err := List(q, scanParticipant, `select `+participantColumns+` from participants
		where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave = $2`, packet, wave)
	redpacket.SortByLeaf(all)
	return all, err
}

// Draw implements redpacket.Ledger. It locks the draw only if entering, or a wave, ends now.
func (t Tables) Draw(ctx context.Context, r redpacket.DrawRequest) (d redpacket.Draw, err error) {
	if !t.db.Storable(r.ID) {
		return d, chat.ErrNotFound
	}
	drawn := false
	err = t.db.Snapshot(ctx, func(q Querier) error {
		d = redpacket.Draw{}
		draw, err := readDraw(q, r.ID, "")
		if drawn = err == nil && (draw.drawnAt != 0 || draw.status != redpacket.Open || r.Why == redpacket.CloseDue && draw.goesOn()); drawn {
			err = completeDraw(q, r, draw, &d)
		}
		return err
	})
	if err != nil || drawn {
		return d, Outcome("draw", err)
	}
	return write(ctx, t.db, "draw", func(w Tx, before redpacket.Draw) (d redpacket.Draw, err error) {
		draw, err := readDraw(w, r.ID, w.Lock())
		if err != nil {
			return d, err
		}
		if draw.status == redpacket.Open && draw.drawnAt == 0 {
			if d, err = drawNow(w, r, &draw); err != nil || d.Refused {
				return d, err
			}
		}
		d.New = max(d.New, before.New) // an earlier run may have drawn them
		return d, completeDraw(w, r, draw, &d)
	})
}

// drawNow ends the entering of a draw, or draws the waves of a rain whose end has come. The draw's row is locked.
func drawNow(w Tx, r redpacket.DrawRequest, draw *storedDraw) (d redpacket.Draw, err error) {
	late := draw.now >= draw.cutoff
	if len(draw.rain.opens) > 0 && r.Why != redpacket.CloseCancel {
		d.New, err = draw.drawWaves(w, r.Why)
	} else if r.Why == redpacket.CloseDue && !late || r.Why == redpacket.CloseCancel && (late || draw.participants > 0) {
		return redpacket.Draw{Refused: true}, nil
	}
	if err == nil && (r.Why != redpacket.CloseDue || !draw.goesOn()) {
		err = endEntering(w, r.ID, *draw, late)
	}
	return d, err
}

// completeDraw reads what follows once entering has ended. A cancel comes too late if anybody has entered.
func completeDraw(q Querier, r redpacket.DrawRequest, draw storedDraw, d *redpacket.Draw) (err error) {
	if d.Refused = r.Why == redpacket.CloseCancel && draw.status == redpacket.Open && draw.participants > 0; d.Refused {
		return nil
	}
	if draw.rain.packet.Rain.Waves > 0 {
		d.Refused = r.Why == redpacket.CloseDue && draw.goesOn()
		d.Waves, err = readWaves(q, r.ID)
	} else if draw.status == redpacket.Open {
		d.Participants, err = readParticipants(q, r.ID, 0)
	}
	if err != nil {
		return err
	}
	d.Book, err = ReadBook(q, r.ID)
	return err
}

// endEntering stores that the entering of a draw has ended. The draw's row is locked. Of a draw that ends before its window, late is false. Its
// rest is refunded. Otherwise an owner could enter, delete the room before anybody else comes, and get all.
func endEntering(w Tx, packet string, draw storedDraw, late bool) error {
	leaves, err := draw.leaves(w, packet)
	if err != nil {
		return err
	}
	root := proof.Root(leaves)
	drawn := redpacket.Drawn{At: Millis(draw.now), Participants: draw.participants, Root: hex.EncodeToString(root[:])}
	if late {
		p, err := ReadPacket(w, packet)
		if err != nil {
			return err
		}
		drawn.Parts = p.Parts(len(leaves))
	}
	link, err := w.Chained(chain.DrawLeaf(packet, drawn))
	if err != nil {
		return err
	}
	_, err = w.Exec(`update packets set drawn_at = $2, participants = $3, root = $4, parts = $5, draw_link = $6
		where id = $1 /*! and bucket = bucket_of($1) */`, packet, draw.now, drawn.Participants, drawn.Root, drawn.Parts, link)
	return err
}

// addDraws completes the states of draws, with what the user may see.
func addDraws(q Querier, user string, states ...*redpacket.State) error {
	if user == "" {
		return nil
	}
	if err := addWins(q, user, states); err != nil {
		return err
	}
	draws := map[string]*redpacket.DrawState{}
	var ids []string
	for _, s := range states {
		if s.Draw != nil && s.Rain == nil {
			draws[s.Packet], ids = s.Draw, append(ids, s.Packet)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return q.Each(func(row Row) error {
		var packet string
		p, err := scanParticipant(after(row, &packet))
		draws[packet].Mine = &p
		return err
	}, `select packet_id, `+participantColumns+` from participants
		where user_id = $1 and wave = 0 and packet_id `+q.In(2)+` /*! and bucket = any(buckets_of($2::text[])) */`, user, q.List(ids))
}

// rowBehind scans the columns of a row that follow some others.
type rowBehind struct {
	Row
	first []any
}

// after returns a row whose Scan scans the columns behind those of into.
func after(row Row, into ...any) Row { return rowBehind{row, into} }

// Scan implements Row.
func (r rowBehind) Scan(into ...any) error { return r.Row.Scan(append(r.first, into...)...) }
