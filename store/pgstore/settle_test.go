package pgstore

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

// fundedRoom creates the test room, gives its owner money and returns a Life in it.
func fundedRoom(t testing.TB, s *Store) *storetest.Life {
	t.Helper()
	createTestRoom(t, s)
	l := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.UnixMilli(1_700_000_000_000).UTC()}
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: 1 << 40, Key: "fund", Hash: []byte("h"), At: l.At})
	l.Must(err)
	return l
}

// TestPoisonClaimsFailAlone settles claims that Postgres refuses together with good ones. The good ones are paid. The
// others become Unpayable and can be put into quarantine.
func TestPoisonClaimsFailAlone(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	patient := s.settleWork()
	patient.Patience = time.Minute // a busy machine may need long to halve the batch
	s.claims.Close()
	s.claims = batch.New(patient, make(chan struct{}, 4), s.log)
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 10)
	l.Must(s.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`insert into wallets values ('full', $1)`, int64(math.MaxInt64))
		return err
	}))
	claim := func(user string, share int) redpacket.Claim {
		return redpacket.Claim{Ref: p.Ref, Share: share, User: user, At: l.At}
	}
	nowhere := redpacket.Claim{Ref: redpacket.Ref{ID: "zero\x00byte"}, User: "a", At: l.At}
	poison := []redpacket.Claim{
		claim("zero\x00byte", 0), claim("full", 1), claim("no \xff UTF-8", 2), claim(incompressible(10_000), 3), nowhere,
		claim("x", math.MaxInt), claim("y", math.MinInt),
	}
	var claims []redpacket.Claim
	for i, bad := range poison {
		claims = append(claims, bad, claim(fmt.Sprint("user-", i), i))
	}
	settled := s.Settle(t.Context(), claims)
	for i, got := range settled {
		if bad := i%2 == 0; (got.Verdict == redpacket.Unpayable) != bad || (got.Verdict == redpacket.PaidNow) == bad || (got.Why == "") == bad {
			t.Errorf("claim %d: %+v", i, got)
		}
	}
	for range 2 {
		l.Must(s.Quarantine(t.Context(), poison, "why\x00 \xff "+strings.Repeat("x", 10_000)))
	}
	if a, err := s.Audit(t.Context(), nil); err != nil || a.Quarantined != len(poison) || a.Claims != len(poison) {
		t.Errorf("%d in quarantine, %d claims, %v", a.Quarantined, a.Claims, err)
	}
}

// incompressible returns a text that is too long for an index.
func incompressible(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte('a' + byte(rand.N(26)))
	}
	return b.String()
}

// TestPoisonGrantDoesNotKeepAPacketOpen ends a packet with a grant that Postgres refuses. The packet is closed, and
// the grant's money becomes part of the refund.
func TestPoisonGrantDoesNotKeepAPacketOpen(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	closed, err := s.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done",
		Grants: []redpacket.Grant{{User: "late", Share: 0}, {User: "zero\x00byte", Share: 1}, {User: "later", Share: 2}}})
	l.Must(err)
	if !closed.Done || len(closed.Inserted) != 2 || len(closed.Accounts) != 3 || closed.Book.Refunded != closed.Book.Shares[1] {
		t.Errorf("%+v", closed)
	}
	wantBalanced(t, s)
}

// TestSameClaimTwiceInOneBatch settles the same claim twice in one batch. Only one of the two is paid.
func TestSameClaimTwiceInOneBatch(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	var jobs []*settleJob
	for _, c := range []redpacket.Claim{
		{Ref: p.Ref, Share: 2, User: "ann", At: l.At}, {Ref: p.Ref, Share: 2, User: "ann", At: l.At},
		{Ref: p.Ref, Share: 1, User: "ann", At: l.At}, {Ref: p.Ref, Share: 1, User: "bob", At: l.At}, {Ref: p.Ref, Share: 2, User: "ann", At: l.At},
	} {
		jobs = append(jobs, &settleJob{Claim: c, transfer: chat.NewID(c.At)})
	}
	_, err := s.settleAll(t.Context(), jobs, false)
	l.Must(err)
	for i, want := range []redpacket.Settlement{
		{Verdict: redpacket.PaidNow, Share: 2}, {Verdict: redpacket.Duplicate, Share: 2}, {Verdict: redpacket.Duplicate, Share: 2},
		{Verdict: redpacket.PaidNow, Share: 1}, {Verdict: redpacket.Duplicate, Share: 2},
	} {
		if got := jobs[i].answer; got.Verdict != want.Verdict || got.Share != want.Share {
			t.Errorf("job %d: %+v, want %+v", i, got, want)
		}
	}
	wantBalanced(t, s)
}

// TestSettleAfterDatabaseRestore removes a user's seed that the store has cached, as the restore of an older backup
// does. Claims must still be paid.
func TestSettleAfterDatabaseRestore(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	q := l.Send("owner", "another", redpacket.Lucky, redpacket.Classic, 1000, 3)
	l.Claim(p, 2)
	l.Must(s.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`delete from users where id = 'u0'`)
		return err
	}))
	settled := s.Settle(t.Context(), []redpacket.Claim{{Ref: q.Ref, Share: 0, User: "u0", At: l.At}, {Ref: q.Ref, Share: 1, User: "u1", At: l.At}})
	for i, got := range settled {
		acc, err := s.Account(t.Context(), fmt.Sprint("u", i))
		l.Must(err)
		if got.Verdict != redpacket.PaidNow || got.Account != acc {
			t.Errorf("%+v, account %+v", got, acc)
		}
	}
}

// TestSettleOfLostPacket removes a packet that the store has cached, as a failover may. Claims of other packets are
// paid.
func TestSettleOfLostPacket(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	q := l.Send("owner", "another", redpacket.Lucky, redpacket.Classic, 1000, 3)
	l.Claim(p, 1)
	l.Must(s.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`delete from packets where id = $1`, p.ID)
		return err
	}))
	var jobs []*settleJob // all in one batch, because a later batch would not have the packet in its cache
	for _, c := range []redpacket.Claim{
		{Ref: p.Ref, Share: 1, User: "ann", At: l.At}, {Ref: p.Ref, Share: 0, User: "u0", At: l.At},
		{Ref: q.Ref, Share: 1, User: "ann", At: l.At}, {Ref: p.Ref, Share: 9, User: "bob", At: l.At},
	} {
		jobs = append(jobs, &settleJob{Claim: c, transfer: chat.NewID(c.At)})
	}
	_, err := s.settleAll(t.Context(), jobs, false)
	l.Must(err)
	for i, want := range []redpacket.Verdict{redpacket.Unpayable, redpacket.Duplicate, redpacket.PaidNow, redpacket.Unpayable} {
		if got := jobs[i].answer; got.Verdict != want || want == redpacket.Unpayable && got.Why != "no such packet" {
			t.Errorf("claim %d: %+v", i, got)
		}
	}
	if _, ok := s.cuts.Get(p.ID); ok {
		t.Error("shares of the lost packet are still cached")
	}
}

// TestPaymentsUseIndexes plans the statements of payments while all tables are small and analyzed. The plans must not read
// a table from end to end, because Postgres may keep them while the tables grow.
func TestPaymentsUseIndexes(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s := openStore(t, url)
	storetest.Live(t, s, s)
	conn := connect(t, url)
	must(t, pg.Simple(t.Context(), conn, `vacuum analyze`))
	must(t, pg.Simple(t.Context(), conn, strings.Join(beginPaying(), "; ")+"; set local plan_cache_mode = force_generic_plan"))
	for _, statement := range []string{payClaims, payNewClaims, holdPackets, firstSeeds, boundUsersQuery} {
		prepared, err := conn.Prepare(t.Context(), statement, statement)
		must(t, err)
		nulls := strings.Repeat(", null", len(prepared.ParamOIDs))[2:]
		rs, err := conn.Query(t.Context(), "explain execute "+prepared.Name+"("+nulls+")", pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		plan, err := pgx.CollectRows(rs, pgx.RowTo[string])
		must(t, err)
		if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") || !strings.Contains(text, "Index") {
			t.Errorf("%s", text)
		}
	}
}

// TestClaimBatchLocksThePacketsOfItsJobs checks that a batch does not lock a packet of a job that was left out, because its row is
// locked, or a packet that cannot be read.
func TestClaimBatchLocksThePacketsOfItsJobs(t *testing.T) {
	claim := func(packet, user string, share int) *settleJob {
		return &settleJob{Claim: redpacket.Claim{Ref: redpacket.Ref{ID: packet}, Share: share, User: user}}
	}
	jobs := []*settleJob{claim("b", "ann", 0), claim("a", "bob", 1), claim("b", "cyn", 1), claim("torn", "ann", 0), claim("none", "ann", 0)}
	pays := func(shares ...redpacket.Money) tables.Payout { return tables.Payout{Shares: shares} }
	cut := map[string]tables.Payout{"a": pays(1, 2), "b": pays(3, 4), "locked": pays(5), "torn": {}}
	b := newClaimBatch(jobs, cut, nil, map[string]error{"torn": errors.New("its seed is lost")})
	if want := []string{"a", "b"}; !slices.Equal(b.packets, want) || len(b.pay) != 3 {
		t.Errorf("locks %v for %d claims, want %v for 3", b.packets, len(b.pay), want)
	}
}
