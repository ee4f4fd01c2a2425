package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/store/loopback"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// grabOf is a grab with its answer.
func grabOf(user string, called, answered int64, outcome string, share ...int64) operation {
	o := operation{user: user, kind: "grab", called: called, answered: answered, outcome: outcome}
	if len(share) == 2 {
		o.rank, o.amount = int(share[0]), share[1]
	}
	return o
}

// TestHistoriesOfPackets feeds the check of a packet with histories that are possible and with histories that are not. The packet has
// two shares, 30 and 70.
func TestHistoriesOfPackets(t *testing.T) {
	open := began.Add(time.Hour).UnixMilli() // the deadline is far away
	ann, bob := win{"p", "ann", 1, 30}, win{"p", "bob", 2, 70}
	both := stored{status: "drained", claims: []win{ann, bob}}
	for _, c := range []struct {
		name     string
		end      stored
		past     bool // the deadline was at 100
		lossy    bool
		steps    bool
		possible bool
		history  []operation
	}{
		{"two winners, a third is late", both, false, false, false, true, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 4, model.Won, 2, 70), grabOf("cid", 5, 6, model.Empty),
		}},
		{"empty while the last winner waits for the answer", both, false, false, false, true, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 9, model.Won, 2, 70), grabOf("cid", 5, 6, model.Empty),
		}},
		{"a repeated grab", both, false, false, false, true, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("ann", 3, 4, model.Already, 1, 30), grabOf("bob", 3, 4, model.Already, 2, 70),
		}},
		{"expired after the deadline", stored{status: "expired", claims: []win{ann}}, true, false, false, true, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 150, 160, model.Expired),
		}},
		{"cancelled", stored{status: "cancelled", claims: nil}, false, false, false, true, []operation{
			{user: "eve", kind: "cancel", called: 1, answered: 2, outcome: "ok"}, grabOf("ann", 3, 4, model.Expired),
		}},
		{"cancelled by a try without an answer", stored{status: "cancelled", claims: nil}, false, false, false, true, []operation{
			{user: "eve", kind: "cancel", called: 1, answered: 5, outcome: "refused"}, grabOf("ann", 3, 4, model.Expired),
		}},
		{"empty, and Redis has forgotten a grant", both, false, true, false, true, []operation{
			grabOf("cid", 1, 2, model.Empty), grabOf("bob", 3, 4, model.Won, 2, 70), grabOf("ann", 5, 6, model.Won, 1, 30),
		}},
		{"empty, and paid later, and Redis has forgotten the grant", both, false, true, false, true, []operation{
			grabOf("ann", 1, 2, model.Empty), grabOf("bob", 3, 4, model.Won, 2, 70),
		}},
		{"empty, and paid later", both, false, false, false, false, []operation{
			grabOf("ann", 1, 2, model.Empty), grabOf("bob", 3, 4, model.Won, 2, 70),
		}},
		{"paid to a user that has not asked, and Redis has forgotten", both, false, true, false, false, []operation{
			grabOf("bob", 3, 4, model.Won, 2, 70),
		}},
		{"two grabs of one user, decided together", both, false, false, false, true, []operation{
			grabOf("ann", 1, 9, model.Won, 1, 30), grabOf("ann", 3, 8, model.Won, 1, 30), grabOf("bob", 3, 9, model.Won, 2, 70),
		}},
		{"won twice, one after the other", both, false, false, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("ann", 3, 4, model.Won, 1, 30), grabOf("bob", 3, 9, model.Won, 2, 70),
		}},

		{"paid after the end was noticed, and Redis has forgotten the grant", stored{status: "expired", claims: []win{ann}}, true, true, false, true, []operation{
			grabOf("ann", 150, 160, model.Expired), grabOf("ann", 170, 180, model.Already, 1, 30),
		}},

		{"expired, and Redis' clock steps back", stored{status: "drained", claims: []win{ann, bob}}, true, false, true, true, []operation{
			grabOf("cid", 150, 160, model.Expired), grabOf("ann", 170, 180, model.Won, 1, 30), grabOf("bob", 190, 200, model.Won, 2, 70),
		}},
		{"cancelled, and Redis' clock steps back", stored{status: "cancelled", claims: []win{ann}}, false, false, true, false, []operation{
			{user: "eve", kind: "cancel", called: 1, answered: 2, outcome: "ok"}, grabOf("ann", 3, 4, model.Won, 1, 30),
		}},

		{"paid after the end was noticed", stored{status: "expired", claims: []win{ann}}, true, false, false, false, []operation{
			grabOf("ann", 150, 160, model.Expired), grabOf("ann", 170, 180, model.Already, 1, 30),
		}},
		{"empty before all shares are gone", both, false, false, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("cid", 3, 4, model.Empty), grabOf("bob", 5, 6, model.Won, 2, 70),
		}},
		{"one share for two users", both, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 4, model.Won, 1, 30),
		}},
		{"two shares for one user", stored{status: "drained", claims: []win{ann, {"p", "ann", 2, 70}}}, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("ann", 3, 4, model.Won, 2, 70),
		}},
		{"shares that exceed the packet", stored{status: "drained", claims: []win{ann, {"p", "bob", 2, 71}}}, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 4, model.Won, 2, 71),
		}},
		{"a rank that comes too early", both, false, false, false, false, []operation{
			grabOf("bob", 1, 2, model.Won, 2, 70), grabOf("ann", 3, 4, model.Won, 1, 30),
		}},
		{"another amount when repeated", both, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("ann", 3, 4, model.Already, 1, 31), grabOf("bob", 5, 6, model.Won, 2, 70),
		}},
		{"a winner that is refused when asking again", both, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 4, model.Won, 2, 70), grabOf("ann", 5, 6, model.Empty),
		}},
		{"expired before the deadline", stored{status: "expired", claims: []win{ann}}, true, false, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 50, 60, model.Expired),
		}},
		{"won long after the deadline was noticed", both, true, false, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("cid", 150, 160, model.Expired), grabOf("bob", 170, 180, model.Won, 2, 70),
		}},
		{"won after the cancellation", stored{status: "cancelled", claims: []win{ann}}, false, false, false, false, []operation{
			{user: "eve", kind: "cancel", called: 1, answered: 2, outcome: "ok"}, grabOf("ann", 3, 4, model.Won, 1, 30),
		}},
		{"a win that SQL does not have", stored{status: "drained", claims: []win{ann}}, false, true, false, false, []operation{
			grabOf("ann", 1, 2, model.Won, 1, 30), grabOf("bob", 3, 4, model.Won, 2, 70),
		}},
	} {
		h := history{packet: packet{id: "p", total: 100, count: 2, expires: open}, operations: c.history}
		slack := time.Duration(0)
		if c.past {
			h.expires = began.UnixMilli()
			slack = -100 // instantOf is 0 then, and the deadline is at 100
		}
		c.end.expires, c.end.closed = h.expires, h.expires
		wrong, undecided := h.check(c.end, rules{slack, c.lossy, c.steps})
		if possible := wrong == ""; possible != c.possible || undecided {
			t.Errorf("%s: possible %t, undecided %t, want possible %t\n%s", c.name, possible, undecided, c.possible, wrong)
		}
	}
}

// TestPacketsAreNotClosedEarly feeds the check of a packet with some that SQL has closed before their deadline.
func TestPacketsAreNotClosedEarly(t *testing.T) {
	h := history{packet: packet{id: "p", total: 100, count: 2, expires: began.UnixMilli()}}
	ann := []win{{"p", "ann", 1, 30}}
	for _, c := range []struct {
		early   int64 // milliseconds
		granted int
		wrong   bool
	}{{0, 1, false}, {200, 1, true}, {200, 2, false}} { // the other one of two granted shares is in quarantine
		end := stored{status: "expired", expires: h.expires, closed: h.expires - c.early, claims: ann, granted: c.granted}
		h.operations = []operation{grabOf("ann", 1, 2, model.Won, 1, 30)}
		if wrong, _ := h.check(end, rules{100 * time.Millisecond, true, false}); c.wrong != (wrong != "") {
			t.Errorf("closed %d ms early with %d of 2 shares granted: %q, want wrong %t", c.early, c.granted, wrong, c.wrong)
		}
	}
}

// TestLongHistoriesAreDecided explains a packet of which many users grab a share at the same time, although the clocks and Redis leave
// much open.
func TestLongHistoriesAreDecided(t *testing.T) {
	const shares = 40
	h := history{packet: packet{id: "p", total: 60, count: 60, expires: began.UnixMilli()}}
	end := stored{status: "expired", expires: h.expires, closed: h.expires}
	for n := range int64(shares) {
		winner, late := fmt.Sprint("winner", n), fmt.Sprint("late", n)
		h.operations = append(h.operations,
			grabOf(winner, 100+n, 1000+n, model.Won, n+1, 1), grabOf(late, 100+n, 900+n, model.Empty), grabOf(late+"r", 500+n, 2000+n, model.Expired))
		end.claims = append(end.claims, win{"p", winner, int(n) + 1, 1})
	}
	if wrong, undecided := h.check(end, rules{8 * time.Second, true, false}); wrong != "" || undecided {
		t.Errorf("undecided %t, %s; want an order that explains all", undecided, wrong)
	}
}

// TestJournals feeds the check of a journal with a room of four entries.
func TestJournals(t *testing.T) {
	stored := []line{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}}
	for _, c := range []struct {
		name    string
		journal roomJournal
		want    string // part of the first problem; "": none
	}{
		{"all", roomJournal{entries: stored}, ""},
		{"from the second on", roomJournal{after: 1, entries: stored[1:]}, ""},
		{"a gap that was announced", roomJournal{entries: []line{{1, "a"}, {4, "d"}}, gaps: []span{{1, 3}}}, ""},
		{"a gap at the end", roomJournal{entries: stored[:2], gaps: []span{{2, 4}}}, ""},
		{"one is missing", roomJournal{entries: []line{{1, "a"}, {2, "b"}, {4, "d"}}}, "after entry 2 came 4"},
		{"one came twice", roomJournal{entries: []line{{1, "a"}, {2, "b"}, {2, "b"}, {3, "c"}, {4, "d"}}}, "after entry 2 came 2"},
		{"two in the wrong order", roomJournal{entries: []line{{1, "a"}, {3, "c"}, {2, "b"}, {4, "d"}}}, "after entry 1 came 3"},
		{"the last one is missing", roomJournal{entries: stored[:3]}, "entries after 3 never came"},
		{"numbered anew", *renumbered("", 2, 1), "entries after 2 never came"},
		{"given up, and not numbered anew", roomJournal{entries: stored, skipped: []span{{4, 6}}}, "entries after 4 through 6 were skipped"},
		{"another entry", roomJournal{entries: []line{{1, "a"}, {2, "x"}, {3, "c"}, {4, "d"}}}, "id x is not in SQL"},
		{"an entry that SQL does not have", roomJournal{entries: append(slices.Clone(stored), line{5, "e"})}, "id e is not in SQL"},
	} {
		first := strings.Join(append(c.journal.check(stored), ""), "\n")
		if c.want == "" && first != "" || !strings.Contains(first, c.want) {
			t.Errorf("%s: %q, want %q", c.name, first, c.want)
		}
	}
}

// TestToldIsStored feeds the check of the record with answers, and with an SQL that has lost or changed one of them. If SQL is expected
// to lose what it has acknowledged at that time, it may have lost whole entries, but not their order.
func TestToldIsStored(t *testing.T) {
	sql := func() truth {
		return truth{
			rooms: map[string][]storedEntry{"room": {
				{line{1, "e1"}, "packet", "ann", "packet"}, {line{2, "e2"}, "packet_done", "ann", ""}, {line{3, "t3"}, "text", "ann", "text"},
			}},
			claims:      map[win]bool{{"p", "bob", 1, 30}: true},
			packets:     map[string]stored{"p": {status: "cancelled"}},
			memberships: map[membership]bool{{"ann", "room"}: true},
			entered:     map[entry]bool{{"p", "ann", 0}: true},
		}
	}
	answers := func(loss told) *record {
		r := newRecord()
		r.loss = loss
		at := told{10, 20}
		r.packets = []toldPacket{{told: at, room: "room", key: "packet", user: "ann", id: "p", seq: 1}}
		r.texts = []toldText{{told: at, room: "room", key: "text", user: "ann", id: "t3", seq: 3}}
		r.histories["p"] = &history{sent: at.called}
		r.wins[win{"p", "bob", 1, 30}] = at
		r.cancelled["p"] = at
		r.entered[entry{"p", "ann", 0}] = at
		r.memberships[membership{"ann", "room"}] = toldMember{at, true}
		r.memberships[membership{"bob", "room"}] = toldMember{at, false}
		return r
	}
	never, before, then, after := told{}, told{1, 9}, told{15, 30}, told{21, 30}
	if wrong := answers(never).check(sql()); len(wrong) > 0 {
		t.Errorf("nothing is wrong, and the check says %q", wrong)
	}
	r := answers(then)
	r.noteMissing(packet{id: "p"}, &refusedError{wire.CodeNotFound})
	if wrong := r.check(sql()); len(wrong) != 1 {
		t.Errorf("a packet that SQL has was answered with not_found: %q", wrong)
	}
	for _, c := range []struct {
		name  string
		spoil func(s truth)
		mayBe bool // SQL may have lost it
	}{
		{"a text is lost", func(s truth) { s.rooms["room"] = s.rooms["room"][:2] }, true},
		{"a text has another id", func(s truth) { s.rooms["room"][2].id = "t2" }, true},
		{"a text is there twice", func(s truth) {
			s.rooms["room"] = append(s.rooms["room"], storedEntry{line{4, "t4"}, "text", "ann", "text"})
		}, false},
		{"an entry number is missing", func(s truth) { s.rooms["room"][1].seq = 3 }, false},
		{"a packet is lost", func(s truth) { s.packets["p"] = stored{} }, true},
		{"a share has another amount", func(s truth) { clear(s.claims); s.claims[win{"p", "bob", 1, 31}] = true }, true},
		{"a share went elsewhere", func(s truth) { clear(s.claims); s.claims[win{"p", "ann", 1, 30}] = true }, true},
		{"a cancellation is lost", func(s truth) { s.packets["p"] = stored{status: "expired"} }, true},
		{"an entry into a draw is lost", func(s truth) { clear(s.entered) }, true},
		{"a join is lost", func(s truth) { clear(s.memberships) }, true},
		{"a leave is lost", func(s truth) { s.memberships[membership{"bob", "room"}] = true }, true},
	} {
		s := sql()
		c.spoil(s)
		for _, loss := range []told{never, before, then, after} {
			r := answers(loss)
			if found, want := len(r.check(s)) > 0, !c.mayBe || loss != then; found != want {
				t.Errorf("%s, SQL may have lost something from %d to %d: the check finds it: %t, want %t", c.name, loss.called, loss.answered, found, want)
			}
			if again := len(r.check(s)) > 0; again && loss == then && c.mayBe {
				t.Errorf("%s: what is lost is not forgotten", c.name)
			}
		}
	}
}

// TestSeedsAreUsedOnce feeds the record with packets.
func TestSeedsAreUsedOnce(t *testing.T) {
	r := newRecord()
	for _, c := range []struct {
		id, commitment string
		wrong          int
	}{{"p", "a", 0}, {"p", "a", 0}, {"q", "b", 0}, {"r", "a", 1}} {
		r.commit(packet{id: c.id, commitment: c.commitment})
		if len(r.wrong) != c.wrong {
			t.Errorf("packet %s with commitment %s: %q", c.id, c.commitment, r.wrong)
		}
	}
}

// TestSeedsRepeat draws the same faults from the same seed, and every kind sooner or later.
func TestSeedsRepeat(t *testing.T) {
	list := kinds()
	drawn := map[string]bool{}
	for n, seed := 0, uint64(7); n < 1000; n, seed = n+1, next(seed) {
		f, again := fault{kinds: draw(seed, list)}, fault{kinds: draw(seed, list)}
		if f.name() != again.name() {
			t.Fatalf("seed %d draws %s and %s", seed, f.name(), again.name())
		}
		for _, k := range f.kinds {
			drawn[k.name] = true
		}
		if len(f.kinds) == 2 && f.kinds[0].part == f.kinds[1].part {
			t.Errorf("%s break the same part", f.name())
		}
	}
	if len(drawn) != len(list) {
		t.Errorf("1000 seeds draw %d of %d kinds", len(drawn), len(list))
	}
}

// TestWorldsHaveEachLayout draws the layouts of worlds. Each comes sooner or later, and one server most often. A text that only one
// layout's kinds have in their names leaves that one.
func TestWorldsHaveEachLayout(t *testing.T) {
	drawn := map[layout]int{}
	for n, seed := 0, uint64(7); n < 1000; n, seed = n+1, next(seed) {
		l := drawLayout(seed, wanted("", ""))
		if again := drawLayout(seed, wanted("", "")); l != again {
			t.Fatalf("seed %d draws %s and %s", seed, l, again)
		}
		drawn[l]++
	}
	for _, l := range layouts() {
		if drawn[l] < 100 || drawn[l] > drawn[oneRedis] {
			t.Errorf("1000 worlds have %v", drawn)
		}
	}
	for contains, want := range map[string][]layout{
		"slots": {redisCluster}, "Sentinel": {redisSentinel}, "two masters": {oneRedis}, "Postgres killed": layouts(), "no such kind": nil,
	} {
		if got := wanted("", contains); !slices.Equal(got, want) {
			t.Errorf("kinds with %q in their names need the layouts %q, want %q", contains, got, want)
		}
	}
	if got := wanted("cluster", "two masters"); got != nil {
		t.Errorf("two masters fit %q although the flag says cluster", got)
	}
}

// TestRoundsHaveEachKindOnce takes all kinds in rounds, as the short form does.
func TestRoundsHaveEachKindOnce(t *testing.T) {
	for _, l := range layouts() {
		checkRounds(t, l)
	}
}

func checkRounds(t *testing.T, l layout) {
	t.Helper()
	here := &world{redisClock: &loopback.Clock{}, postgres: &postgres{limited: true}} // with all that a machine without Citus may have
	left, _ := chosen(here, kindsOf(l, ""))
	same := map[part]int{}
	for _, k := range left {
		same[k.part]++
	}
	all, rounds, seen := len(left), 0, map[string]bool{}
	for ; len(left) > 0; rounds++ {
		var taken []kind
		taken, left = together(left, atOnce)
		parts := map[part]bool{}
		for _, k := range taken {
			if seen[k.name] || parts[k.part] {
				t.Errorf("layout %s: round %d has %s twice, or another kind that breaks the same part", l, rounds, k.name)
			}
			seen[k.name], parts[k.part] = true, true
		}
	}
	least := max((all+atOnce-1)/atOnce, slices.Max(slices.Collect(maps.Values(same)))) // kinds that break one part need a round each
	if len(seen) != all || rounds > least+1 {
		t.Errorf("layout %s: %d rounds have %d of %d kinds, want all in %d", l, rounds, len(seen), all, least)
	}
}
