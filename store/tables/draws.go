package tables

import (
	"context"
	"encoding/hex"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/chain"
)

// A draw's row in packets is locked by those that enter it and by the one that draws. So no entry is committed after the draw, none that was
// committed before is missing in it, and the count of participants is exact.

// lockedDraw is the row of a draw.
type lockedDraw struct {
	status       redpacket.Status
	now, cutoff  int64
	drawnAt      int64
	participants int
}

// lockDraw locks the row of a draw, or returns chat.ErrNotFound.
func lockDraw(w Tx, packet string) (d lockedDraw, err error) {
	found, err := w.Row(`select status, `+w.Clock()+`, expires_at, drawn_at, participants from packets
		where id = $1 /*! and bucket = bucket_of($1) */ and window_s > 0`+w.Lock(), []any{packet}, &d.status, &d.now, &d.cutoff, &d.drawnAt, &d.participants)
	if err == nil && !found {
		err = chat.ErrNotFound
	}
	return d, err
}

// isOpen reports whether users can enter.
func (d *lockedDraw) isOpen() bool {
	return d.status == redpacket.Open && d.drawnAt == 0 && d.now < d.cutoff
}

// Enter implements redpacket.Ledger.
func (t Tables) Enter(ctx context.Context, packet string, users []redpacket.Entrant) (redpacket.Entering, error) {
	if !t.db.Storable(packet) {
		return redpacket.Entering{}, chat.ErrNotFound
	}
	return write(ctx, t.db, "enter a draw", func(w Tx, _ redpacket.Entering) (redpacket.Entering, error) {
		draw, err := lockDraw(w, packet)
		if err != nil {
			return redpacket.Entering{}, err
		}
		e := redpacket.Entering{Status: draw.status, Participants: draw.participants, Entered: map[string]redpacket.Participant{}}
		if err := readEntered(w, packet, users, e.Entered); err != nil {
			return redpacket.Entering{}, err
		}
		if draw.isOpen() {
			err = insertParticipants(w, packet, draw.now, users, &e)
		}
		return e, err
	})
}

// readEntered adds to entered those of the users that have entered the draw.
func readEntered(q Querier, packet string, users []redpacket.Entrant, entered map[string]redpacket.Participant) error {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.User
	}
	return q.Each(func(row Row) error {
		p, err := scanParticipant(row)
		entered[p.User] = p
		return err
	}, `select `+participantColumns+` from participants
		where packet_id = $1 /*! and bucket = bucket_of($1) */ and user_id `+q.In(2), packet, q.List(ids))
}

// participantRecord is a row of participants as a record for Dialect.Records.
type participantRecord struct {
	User string `json:"user_id"`
	Leaf string `json:"leaf"`
}

// insertParticipants adds those of the users that may enter and have not entered. The draw's row is locked.
func insertParticipants(w Tx, packet string, now int64, users []redpacket.Entrant, e *redpacket.Entering) error {
	var (
		rows   []participantRecord
		leaves []chain.Hash
	)
	for _, u := range users {
		if _, before := e.Entered[u.User]; before || u.Refused {
			continue
		}
		p := redpacket.Participant{User: u.User, Leaf: u.Leaf, At: Millis(now)}
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
	b.Exec(`insert into participants (/*! bucket, */ packet_id, user_id, leaf, at, link)
		select /*! bucket_of($1), */ $1, user_id, leaf, $3, $4
		from `+w.Records(2, "n", `user_id text, leaf text`), packet, JSON(rows), now, link)
	b.Exec(`update packets set participants = $2 where id = $1 /*! and bucket = bucket_of($1) */`, packet, e.Participants)
	return w.Send(&b)
}

const participantColumns = `user_id, leaf, at`

func scanParticipant(row Row) (p redpacket.Participant, err error) {
	var leaf string
	if err = row.Scan(&p.User, &leaf, Time(&p.At)); err != nil {
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
func (t Tables) Participants(ctx context.Context, packet, after string, limit int) ([]redpacket.Participant, error) {
	if !t.db.Storable(packet) {
		return nil, nil
	}
	return list(ctx, t.db, "list participants", scanParticipant, `select `+participantColumns+` from participants
		where packet_id = $1 /*! and bucket = bucket_of($1) */ and leaf > $2 order by leaf limit $3`, packet, after, limit)
}

// Draw implements redpacket.Ledger.
func (t Tables) Draw(ctx context.Context, r redpacket.DrawRequest) (redpacket.Draw, error) {
	if !t.db.Storable(r.ID) {
		return redpacket.Draw{}, chat.ErrNotFound
	}
	return write(ctx, t.db, "draw", func(w Tx, _ redpacket.Draw) (redpacket.Draw, error) {
		draw, err := lockDraw(w, r.ID)
		if err != nil {
			return redpacket.Draw{}, err
		}
		var d redpacket.Draw
		switch late := draw.now >= draw.cutoff; {
		case draw.status != redpacket.Open:
		case r.Why == redpacket.CloseDue && !late && draw.drawnAt == 0,
			r.Why == redpacket.CloseCancel && (draw.participants > 0 || late && draw.drawnAt == 0):
			d.Refused = true
			return d, nil
		default:
			if d.Participants, err = List(w, scanParticipant, `select `+participantColumns+` from participants
				where packet_id = $1 /*! and bucket = bucket_of($1) */ order by leaf`, r.ID); err != nil {
				return redpacket.Draw{}, err
			}
			if draw.drawnAt == 0 {
				err = endEntering(w, r.ID, draw.now, d.Participants)
			}
		}
		if err == nil {
			d.Book, err = ReadBook(w, r.ID)
		}
		return d, err
	})
}

// endEntering stores that the entering of a draw has ended, with these participants. The draw's row is locked.
func endEntering(w Tx, packet string, now int64, participants []redpacket.Participant) error {
	leaves := make([]proof.Hash, len(participants))
	for i := range participants {
		leaves[i] = participants[i].Leaf
	}
	root := proof.Root(leaves)
	p, err := ReadPacket(w, packet)
	if err != nil {
		return err
	}
	drawn := redpacket.Drawn{At: Millis(now), Participants: len(leaves), Root: hex.EncodeToString(root[:]), Parts: p.Parts(len(leaves))}
	link, err := w.Chained(chain.DrawLeaf(packet, drawn))
	if err != nil {
		return err
	}
	_, err = w.Exec(`update packets set drawn_at = $2, participants = $3, root = $4, parts = $5, draw_link = $6
		where id = $1 /*! and bucket = bucket_of($1) */`, packet, now, drawn.Participants, drawn.Root, drawn.Parts, link)
	return err
}

// addDraws completes the states of draws, with what the user may see.
func addDraws(q Querier, user string, states ...*redpacket.State) error {
	draws := map[string]*redpacket.DrawState{}
	var ids []string
	for _, s := range states {
		if s.Draw != nil {
			draws[s.Packet], ids = s.Draw, append(ids, s.Packet)
		}
	}
	if len(ids) == 0 || user == "" {
		return nil
	}
	return q.Each(func(row Row) error {
		var packet string
		p, err := scanParticipant(after(row, &packet))
		draws[packet].Mine = &p
		return err
	}, `select packet_id, `+participantColumns+` from participants
		where user_id = $1 and packet_id `+q.In(2)+` /*! and bucket = any(buckets_of($2::text[])) */`, user, q.List(ids))
}

// rest scans the columns of a row that follow some others.
type rest struct {
	Row
	first []any
}

// after returns a row whose Scan scans the columns behind those of into.
func after(row Row, into ...any) Row { return rest{row, into} }

// Scan implements Row.
func (r rest) Scan(into ...any) error { return r.Row.Scan(append(r.first, into...)...) }
