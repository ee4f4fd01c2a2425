package tables

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/chain"
	"hongbao/store/secret"
)

// storedRain is what a draw's row says of its waves.
type storedRain struct {
	packet redpacket.Packet // without most of its fields
	seed   redpacket.Seed
	opens  []time.Time // nil: the packet is no rain
	drawn  int

	entered, participants int // the wave that users have entered last, and how many have
}

// wave returns the wave that users can enter now, or 0.
func (d *storedDraw) wave() int {
	now := Millis(d.now)
	for i := d.rain.drawn; i < len(d.rain.opens) && !d.rain.opens[i].After(now); i++ {
		if now.Before(d.rain.opens[i].Add(redpacket.WaveWindow)) {
			return i + 1
		}
	}
	return 0
}

// due returns how many waves have been drawn once those are whose end has come. With CloseEarly, the end of the open one has come, too.
func (d *storedDraw) due(why redpacket.CloseReason) int {
	now, due := Millis(d.now), d.rain.drawn
	for due < len(d.rain.opens) {
		end := d.rain.opens[due]
		if why != redpacket.CloseEarly {
			end = end.Add(redpacket.WaveWindow)
		}
		if end.After(now) {
			break
		}
		due++
	}
	return due
}

// goesOn reports whether the packet is an open rain of which no wave can be drawn now, but some can later.
func (d *storedDraw) goesOn() bool {
	return d.status == redpacket.Open && d.drawnAt == 0 && d.rain.drawn < len(d.rain.opens) && d.due(redpacket.CloseDue) == d.rain.drawn
}

// drawWaves draws the waves that are due, and returns how many. The draw's row is locked.
func (d *storedDraw) drawWaves(w Tx, why redpacket.CloseReason) (drawn int, err error) {
	packet, due := d.rain.packet.ID, d.due(why)
	if due == d.rain.drawn {
		return 0, nil
	}
	waves, err := readWaves(w, packet)
	if err != nil {
		return 0, err
	}
	var leaves []chain.Hash
	for n := d.rain.drawn + 1; n <= due; n++ {
		participants, err := readParticipants(w, packet, n)
		if err != nil {
			return 0, err
		}
		next := d.rain.packet.DrawWave(d.rain.seed, waves, participants, Millis(d.now))
		waves, leaves = append(waves, next), append(leaves, chain.WaveLeaf(packet, next))
	}
	link, err := w.Chained(leaves...)
	if err != nil {
		return 0, err
	}
	var b Batch
	for _, n := range waves[d.rain.drawn:] {
		b.Exec(`insert into rain_waves (/*! bucket, */ packet_id, wave, drawn_at, participants, root, first_share, winners, link)
			values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6, $7, $8)`,
			packet, n.Number, n.At.UnixMilli(), n.Participants, n.Root, n.First, w.ArrayOf(n.Winners), link)
	}
	b.Exec(`update packets set waves_drawn = $2 where id = $1 /*! and bucket = bucket_of($1) */`, packet, due)
	drawn, d.rain.drawn = due-d.rain.drawn, due
	return drawn, w.Send(&b)
}

// leaves returns what the root of a draw covers: the leaves of its participants, or the roots of its waves.
func (d *storedDraw) leaves(q Querier, packet string) (leaves []proof.Hash, err error) {
	if d.rain.packet.Rain.Waves > 0 {
		waves, err := readWaves(q, packet)
		if err != nil {
			return nil, err
		}
		for _, w := range waves {
			root, err := hex.DecodeString(w.Root)
			if err != nil || len(root) != len(proof.Hash{}) {
				return nil, fmt.Errorf("stored root %q of wave %d is no hash", w.Root, w.Number)
			}
			leaves = append(leaves, proof.Hash(root))
		}
		return leaves, nil
	}
	participants, err := readParticipants(q, packet, 0)
	for i := range participants {
		leaves = append(leaves, participants[i].Leaf)
	}
	return leaves, err
}

// readWaves reads the waves that have been drawn.
func readWaves(q Querier, packet string) ([]redpacket.Wave, error) {
	return List(q, into(func(w *redpacket.Wave) []any {
		return []any{&w.Number, Time(&w.At), &w.Participants, &w.Root, &w.First, q.Array(&w.Winners)}
	}), `select wave, drawn_at, participants, root, first_share, winners from rain_waves
		where packet_id = $1 /*! and bucket = bucket_of($1) */ order by wave`, packet)
}

// Waves implements redpacket.Ledger.
func (t Tables) Waves(ctx context.Context, packet string) ([]redpacket.Wave, error) {
	if !t.db.Storable(packet) {
		return nil, nil
	}
	return read(ctx, t.db, "list waves", func(q Querier) ([]redpacket.Wave, error) { return readWaves(q, packet) })
}

// OpenRains implements redpacket.Ledger.
func (t Tables) OpenRains(ctx context.Context, after redpacket.RainPlan, limit int) ([]redpacket.RainPlan, error) {
	begins := int64(math.MinInt64)
	if !after.Begins.IsZero() {
		begins = after.Begins.UnixMilli()
	}
	return read(ctx, t.db, "list open rains", func(q Querier) ([]redpacket.RainPlan, error) {
		return List(q, func(row Row) (plan redpacket.RainPlan, err error) {
			var (
				p       redpacket.Packet
				windowS int
				columns secret.Columns
			)
			if err := row.Scan(&p.ID, &p.Partition, &p.Room, &p.From.ID, &p.Key, Time(&p.ExpiresAt), &windowS, &p.Rain.Waves, &plan.Drawn,
				&columns.Seed, &columns.EncryptedSeed); err != nil {
				return plan, err
			}
			p.Window = time.Duration(windowS) * time.Second
			plan.Ref, plan.Room, plan.Begins = p.Ref, p.Room, p.ExpiresAt.Add(-p.Window)
			if seed, err := q.Keys().Seed(p.ID, columns); err == nil { // else its key is gone, which must keep no other rain from being listed
				plan.Opens = p.Opens(seed)
			}
			return plan, nil
		}, OpenRainsQuery(q), begins, after.ID, limit, redpacket.RainSoon.Milliseconds())
	})
}

// OpenRainsQuery lists the rains that begin soon, in the order of their index. The clock is read in a query of its own, so that later rains
// are not read.
func OpenRainsQuery(d Dialect) string {
	return `select id, partition, room_id, sender, key, expires_at, window_s, waves, waves_drawn, seed, encrypted_seed
		from packets where status = 'open' and waves > 0 and expires_at - window_s * 1000 >= $1 and (expires_at - window_s * 1000, id) > ($1, $2)
			and expires_at - window_s * 1000 < (select ` + d.Clock() + ` + $4)
		order by expires_at - window_s * 1000, id limit $3`
}

// addWins completes the states of rains with the shares that the user has won, and with the user's entry in the wave that is not drawn yet.
func addWins(q Querier, user string, states []*redpacket.State) error {
	rains := map[string]*redpacket.State{}
	var ids []string
	for _, s := range states {
		if s.Rain == nil {
			continue
		}
		rains[s.Packet], ids = s, append(ids, s.Packet)
		if s.Status != redpacket.Open {
			continue
		}
		if err := q.Each(func(row Row) error {
			p, err := scanParticipant(row)
			s.Draw.Mine = &p
			return err
		}, `select `+participantColumns+` from participants
			where packet_id = $1 /*! and bucket = bucket_of($1) */ and wave = $2 and user_id = $3`, s.Packet, s.Rain.Drawn+1, user); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return q.Each(func(row Row) error {
		var (
			packet string
			w      redpacket.Paid
		)
		if err := row.Scan(&packet, &w.Wave, &w.Share, &w.Amount, Time(&w.At)); err != nil {
			return err
		}
		rains[packet].AddWin(w)
		return nil
	}, `select packet_id, wave, share_no, amount, at from claims
		where user_id = $1 and packet_id `+q.In(2)+` /*! and bucket = any(buckets_of($2::text[])) */ order by packet_id, wave`, user, q.List(ids))
}
