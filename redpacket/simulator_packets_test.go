package redpacket

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// simRain is what SQL has of the waves of a rain.
type simRain struct {
	packet  Packet // Rain.Waves is 0 if the packet is no rain
	opens   []time.Time
	entered []Participant
	waves   []Wave
	ended   bool              // nobody can enter any more
	told    map[int]claimOnce // by share: the winner that an instance has told
}

// claimOnce is a share's winner and wave.
type claimOnce struct {
	user string
	wave int
}

const (
	simWaves   = 2
	simMaxWins = 1
)

// makeRain makes the row a rain, which begins soon.
func (r *simRow) makeRain(l *simLedger, packet int) {
	r.count, r.opens = 2*simWaves, 0
	r.deadline = simWaves*WaveCell + time.Duration(l.w.rng.IntN(2000))*time.Millisecond
	r.rain.packet = Packet{
		Ref: Ref{ID: simRef(packet).ID, Partition: NoPartition}, From: chat.User{ID: "sender"}, Key: "key", Mode: Equal, Count: r.count,
		ExpiresAt: simTime(r.deadline), Window: simWaves * WaveCell, Rest: RestRefund, Rain: Rain{Waves: simWaves, MaxWins: simMaxWins},
	}
	r.rain.opens, r.rain.told = r.rain.packet.Opens(Seed{}), map[int]claimOnce{}
}

func (r *simRow) isRain() bool { return r.rain.packet.Rain.Waves > 0 }

// wave returns the wave that users can enter, or 0.
func (r *simRain) wave(now time.Time) int {
	for i, opens := range r.opens {
		if !r.ended && i >= len(r.waves) && !now.Before(opens) && now.Before(opens.Add(WaveWindow)) {
			return i + 1
		}
	}
	return 0
}

// goesOn reports whether a later wave can still be drawn, and none can now.
func (r *simRain) goesOn(now time.Time) bool {
	return !r.ended && len(r.waves) < len(r.opens) && now.Before(r.opens[len(r.waves)].Add(WaveWindow))
}

// enter is the command by which a user enters a wave of a rain.
func (w *simWorld) enter(p *simProcess) {
	row := &w.ledger.rows[p.packet]
	var wave int
	look := func() { wave = row.rain.wave(simTime(w.clock)) }
	insert := func() {
		entry := Participant{User: simUser(p.user), Wave: wave, Leaf: proof.Leaf("sender", "key", uint32(wave), simUser(p.user))}
		if wave == 0 || row.status != Open || slices.ContainsFunc(row.rain.entered, func(e Participant) bool { return e.Leaf == entry.Leaf }) {
			return
		}
		row.rain.entered = append(row.rain.entered, entry)
		w.seen[simSawEntered]++
	}
	if w.mutant&simEntersUnlocked != 0 {
		_ = w.call(simSQL, look, insert)
		return
	}
	_ = w.call(simSQL, func() { look(); insert() })
}

// Draw implements Ledger. It also reads the packet, as the last step of the transaction.
func (l *simLedger) Draw(_ context.Context, r DrawRequest) (d Draw, err error) {
	row := &l.rows[simIndex(r.ID)]
	err = l.w.call(simSQL, func() {
		now := simTime(l.w.clock)
		if row.status == Open && !row.rain.ended {
			before := len(row.rain.waves)
			if r.Why == CloseCancel && (len(row.rain.entered) > 0 || !now.Before(simTime(row.deadline))) {
				d = Draw{Refused: true}
				return
			}
			if r.Why != CloseCancel {
				l.drawWaves(row, r.Why, now)
			}
			d.New = len(row.rain.waves) - before
			row.rain.ended = r.Why != CloseDue || !row.rain.goesOn(now)
		}
		d.Refused = r.Why == CloseDue && row.status == Open && row.rain.goesOn(now) || r.Why == CloseCancel && row.status == Open && len(row.rain.entered) > 0
		d.Waves, d.Book = slices.Clone(row.rain.waves), row.book(r.Ref)
		if l.w.trace != nil {
			l.w.note("sql: draw %s: refused=%t, %d new of %d waves", r.ID, d.Refused, d.New, len(d.Waves))
		}
	})
	return d, err
}

func (l *simLedger) drawWaves(row *simRow, why CloseReason, now time.Time) {
	rain := &row.rain
	for n := len(rain.waves); n < len(rain.opens) && !rain.opens[n].After(now) && (why == CloseEarly || !rain.opens[n].Add(WaveWindow).After(now)); n++ {
		participants := slices.DeleteFunc(slices.Clone(rain.entered), func(e Participant) bool { return e.Wave != n+1 })
		SortByLeaf(participants)
		before := rain.waves
		if l.w.mutant&simWavesForget != 0 {
			before = make([]Wave, n)
		}
		rain.waves = append(rain.waves, rain.packet.DrawWave(Seed{}, before, participants, now))
		l.w.seen[simSawWave]++
	}
}

// waves implements observer: an instance tells the winners of waves.
func (s simObserver) waves(d *Draw, _ bool) {
	if s.w.running.dead {
		return
	}
	told := s.w.ledger.rows[simIndex(d.Book.Packet.ID)].rain.told
	for _, g := range winnersOf(d.Waves) {
		now := claimOnce{g.User, g.Wave}
		if before, is := told[g.Share]; is && before != now {
			s.w.count[simAnsweredLost]++
		}
		told[g.Share] = now
	}
}

// judgeRain counts the harm done to the participants of a rain.
func (w *simWorld) judgeRain(row *simRow) {
	wins := map[string]int{}
	for _, c := range row.claims {
		if wins[c.User]++; wins[c.User] > simMaxWins {
			w.count[simDouble]++
		}
	}
	for share, told := range row.rain.told {
		if !slices.Contains(row.claims, Grant{User: told.user, Share: share, Wave: told.wave}) && !row.poison[simIndex(told.user)].forGood {
			w.count[simAnsweredLost]++
		}
	}
	for _, drawn := range row.rain.waves {
		entered := 0
		for _, e := range row.rain.entered {
			if e.Wave == drawn.Number {
				entered++
			}
		}
		if entered != drawn.Participants {
			w.count[simDropped]++
		}
	}
}

// simBinding is to whom SQL has bound the persons of a packet. Two users at a time are one person.
type simBinding struct {
	on bool
	to [simMaxUsers]string // by person
}

func simPerson(user string) string { return simUser(simIndex(user) / 2) }

// binds reports whether the claims of a user may be paid.
func (r *simRow) binds(user string) bool {
	return !r.persons.on || slices.Contains(r.persons.to[:], user)
}

// BindPersons implements Ledger.
func (l *simLedger) BindPersons(_ context.Context, packet string, users []Entrant, _ time.Time) (bound map[string]string, err error) {
	row := &l.rows[simIndex(packet)]
	bound = map[string]string{}
	err = l.w.call(simSQL, func() {
		for _, u := range users {
			to := &row.persons.to[simIndex(u.Person)]
			if l.w.mutant&simBindsAny != 0 {
				*to = u.User
			}
			*to = cmp.Or(*to, u.User)
			bound[u.Person] = *to
		}
	})
	return bound, err
}

// forgetBindings makes the database lose the bindings that it has committed last: those of users that have no claim yet.
func (l *simLedger) forgetBindings() {
	for i := range l.rows {
		for person, user := range l.rows[i].persons.to {
			if user != "" && l.rows[i].shareOf(user) < 0 {
				l.rows[i].persons.to[person] = ""
			}
		}
	}
}

// judgePersons counts the persons that have several shares.
func (w *simWorld) judgePersons(row *simRow) {
	paid := map[string]bool{}
	for _, c := range row.claims {
		if person := simPerson(c.User); row.persons.on {
			if paid[person] {
				w.count[simTwice]++
			}
			paid[person] = true
		}
	}
}

// planHold draws for whom shares of the packet are held.
func (l *simLedger) planHold(row *simRow) {
	row.hold = Hold{}
	if !l.w.class.holds || !l.w.chance(2) {
		return
	}
	shares := l.w.rng.Perm(row.count)
	for user := range 1 + l.w.rng.IntN(row.count) {
		row.hold.For = append(row.hold.For, Grant{User: simUser(user), Share: shares[user]})
	}
	row.hold.Until = simTime(row.opens + time.Duration(l.w.rng.IntN(int((row.deadline-row.opens)/time.Millisecond)))*time.Millisecond)
}

// pick returns the share for a user: the own one, or else the lowest that is free and not held; -1 if there is none.
func (im *simImage) pick(user int, now time.Time) int {
	if !im.hold.Active(now) {
		return im.free()
	}
	if own := im.hold.ShareOf(simUser(user)); own >= 0 && im.holder[own] == 0 {
		return own
	}
	for share := range im.count {
		if im.holder[share] == 0 && !im.hold.keeps(share, "") {
			return share
		}
	}
	return -1
}

// keeps reports whether the share is held for another user.
func (h Hold) keeps(share int, user string) bool {
	return slices.ContainsFunc(h.For, func(g Grant) bool { return g.Share == share && g.User != user })
}
