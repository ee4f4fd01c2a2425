package audit

import (
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/tables"
)

// storedWave is a row of rain_waves. No value in it is trusted.
type storedWave struct {
	redpacket.Wave
	packet  string
	at      int64
	winners string // JSON
}

// wavesInOrder returns a function that returns the waves of the scope one by one, ordered by packet and wave, and nil after the last one.
func (a *auditor) wavesInOrder() (next func() (*storedWave, error), stop func()) {
	pull, stop := iter.Pull2(stream(a.Snapshot, "waves", a.scope.Replace(`select w.packet_id, w.wave, w.drawn_at, w.participants, w.root, w.first_share, `+a.Winners+`
		from {packets} p join rain_waves w on w.packet_id = p.id order by w.packet_id, w.wave`), func(row tables.Row) (w storedWave, err error) {
		err = row.Scan(&w.packet, &w.Number, &w.at, &w.Participants, &w.Root, &w.First, &w.winners)
		return w, err
	}))
	return func() (*storedWave, error) {
		w, err, more := pull()
		if err != nil || !more {
			return nil, err
		}
		if json.Unmarshal([]byte(w.winners), &w.Winners) != nil {
			a.report("draw", w.packet, "the winners of wave %d are no list", w.Number)
		}
		return &w, nil
	}, stop
}

// seek returns the wave of the packet; nil: it has not been drawn. The packets and waves of calls must be in order.
func (a *auditor) seek(packet string, number int) (*storedWave, error) {
	for a.ahead != nil && (a.ahead.packet < packet || a.ahead.packet == packet && a.ahead.Number < number) {
		var err error
		if a.ahead, err = a.nextWave(); err != nil {
			return nil, err
		}
	}
	if a.ahead != nil && a.ahead.packet == packet && a.ahead.Number == number {
		return a.ahead, nil
	}
	return nil, nil
}

// wave compares a wave with its participants and their claims, and, if the seed is known, computes its winners again.
func (a *auditor) wave(d *auditedDraw) error {
	w, err := a.seek(d.packet.ID, d.wave)
	switch {
	case err != nil:
		return err
	case w == nil && d.status != redpacket.Open:
		a.report("draw", d.packet.ID, "wave %d has participants, and was not drawn", d.wave)
		return nil
	case w == nil:
		return nil
	}
	if root := proof.Root(d.leaves); w.Root != hex.EncodeToString(root[:]) || w.Participants != len(d.leaves) {
		a.report("draw", d.packet.ID, "the root of wave %d is not that of its participants", d.wave)
	}
	var seed redpacket.Seed
	if copy(seed[:], d.seed) == len(seed) { // else the packet is open and encrypted, or a difference of the packet
		a.redrawWave(d, w, seed)
	}
	a.checkWinners(d, w)
	return nil
}

// redrawWave computes when users could enter the wave, and which of them have won.
func (a *auditor) redrawWave(d *auditedDraw, w *storedWave, seed redpacket.Seed) {
	p := &d.packet
	rule := proof.Rain{Waves: p.Rain.Waves, OverS: d.windowS, MaxWins: p.Rain.MaxWins}
	if rule.Check() != nil || d.wave < 1 || d.wave > p.Rain.Waves {
		a.report("draw", p.ID, "there is no such rain, or no wave %d of it", d.wave)
		return
	}
	p.Window = time.Duration(d.windowS) * time.Second
	opens := p.Opens(seed)[d.wave-1]
	for i, at := range d.entered {
		if moment := time.UnixMilli(at); moment.Before(opens) || !moment.Before(opens.Add(redpacket.WaveWindow)) {
			a.report("draw", p.ID, "%s has entered wave %d when it was not open", d.users[i], d.wave)
		}
	}
	if end := opens.Add(redpacket.WaveWindow); time.UnixMilli(w.at).Before(end) && !d.early {
		a.report("draw", p.ID, "wave %d was drawn before its end", d.wave)
	}
	if a.roundOf != p.ID {
		a.round, a.roundOf = rule.NewRound(p.Count), p.ID
	}
	first := a.round.Next()
	var winners []string
	order := proof.Order(seed, p.From.ID, p.Key, uint32(d.wave), d.leaves)
	for _, i := range a.round.Draw(d.wave, order, func(i int) string { return d.users[i] }) {
		winners = append(winners, d.users[i])
	}
	if w.First != first || !slices.Equal(w.Winners, winners) {
		a.report("draw", p.ID, "the winners of wave %d are not those that are drawn", d.wave)
	}
}

// checkWinners compares the winners of a wave with what was paid.
func (a *auditor) checkWinners(d *auditedDraw, w *storedWave) {
	for i, share := range d.shares {
		place := slices.Index(w.Winners, d.users[i])
		switch {
		case share >= 0 && (place < 0 || share != w.First+place):
			a.report("draw", d.packet.ID, "share %d was paid to %s, who has not won it in wave %d", share, d.users[i], d.wave)
		case share < 0 && place >= 0 && d.status != redpacket.Open && !a.quarantined[[2]string{d.packet.ID, d.users[i]}]:
			a.report("draw", d.packet.ID, "%s has won share %d in wave %d, and was not paid", d.users[i], w.First+place, d.wave)
		}
	}
}

// waveRows reads the waves of rains, with what their packets say of them all. The rows of a packet follow one another, ordered by wave.
const waveRows = `select p.id, p.drawn_at > 0, p.root, p.participants, w.wave, w.participants, w.root, w.first_share, `

// waves compares the waves of each rain with each other and with the packet.
func (a *auditor) waves() error {
	var (
		last            string
		root            string // of the packet
		drawn           bool
		stored, counted int // participants
		next            int // wave
		share           int // the first share of the next wave
		roots           []proof.Hash
		check           = func() {
			if last == "" || !drawn {
				return
			}
			if want := proof.Root(roots); root != hex.EncodeToString(want[:]) || stored != counted {
				a.report("draw", last, "its root or its number of participants is not that of its waves")
			}
		}
	)
	err := a.Each(func(row tables.Row) error {
		var (
			w               redpacket.Wave
			id, of, winners string
			ended           bool
			participants    int
		)
		if err := row.Scan(&id, &ended, &of, &participants, &w.Number, &w.Participants, &w.Root, &w.First, &winners); err != nil {
			return err
		}
		if id != last {
			check()
			last, root, drawn, stored, counted, next, share, roots = id, of, ended, participants, 0, 1, 0, nil
		}
		raw, _ := hex.DecodeString(w.Root)
		var hash proof.Hash
		copy(hash[:], raw)
		_ = json.Unmarshal([]byte(winners), &w.Winners) // what is no list has no winners: see wavesInOrder
		none := proof.Root(nil)
		if w.Number != next || w.First != share || w.Participants == 0 && (hash != none || len(w.Winners) > 0) {
			a.report("draw", id, "wave %d does not fit the waves before it", w.Number)
		}
		next, share, counted, roots = w.Number+1, w.First+len(w.Winners), counted+w.Participants, append(roots, hash)
		return nil
	}, a.scope.Replace(waveRows+a.Winners+` from {packets} p join rain_waves w on w.packet_id = p.id order by p.id, w.wave`))
	check()
	return err
}
