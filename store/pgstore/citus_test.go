package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/loopback"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

// TestEachTableHasItsPlace fails for a table of a later version about which nobody has decided whether Citus splits it.
func TestEachTableHasItsPlace(t *testing.T) {
	onCoordinator := strings.Fields(`admin_acts blocks chains circulation erasures event_consumers event_holds event_marks events figures file_usage files fundings
		held_texts invite_links join_requests legal_holds links members mentions_of_all offline_news pictures push_subscriptions quarantine refs refusals reports retention room_rules room_words rooms schema_migrations
		security_counts settings sockets users`)
	want := slices.Clone(onCoordinator)
	want = append(want, schema.SplitNames...)
	if *citus {
		want = append(want, "adjustment_keys")
	}
	slices.Sort(want)
	r := reader{Ctx: t.Context(), Conn: connect(t, migratedDatabase(t))}
	got, err := tables.List(r, tables.ScanText, `select tablename::text from pg_tables where schemaname = current_schema() order by 1`)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("tables %v, %v; want %v: add a new one to the tables that schema splits, or to this list", got, err, want)
	}
}

func TestBucketsOfGoAndSQL(t *testing.T) {
	r := reader{Ctx: t.Context(), Conn: connect(t, migratedDatabase(t))}
	if !*citus {
		for _, create := range []string{schema.BucketOf, schema.BucketsOf} {
			must(t, pg.Simple(r.Ctx, r.Conn, create))
		}
	}
	seen := map[int]bool{}
	for i := range 300 {
		id := fmt.Sprintf("用户-%d'\\", i)
		var got, one int
		if _, err := r.Row(`select bucket_of($1), (buckets_of(array[$1, $1]))[1]`, []any{id}, &got, &one); err != nil || got != schema.Bucket(id) || one != got {
			t.Fatalf("bucket of %q: %d and %d, %v; want %d", id, got, one, err, schema.Bucket(id))
		}
		seen[got] = true
	}
	if len(seen) != schema.Buckets {
		t.Errorf("300 ids have %d buckets, want %d", len(seen), schema.Buckets)
	}
}

// needCitus skips a test that is only about Citus.
func needCitus(t *testing.T) {
	t.Helper()
	if !*citus {
		t.Skip("needs Citus: make nightly PART=citusfaults")
	}
}

// TestCitusSplitsFilledTables moves a filled Postgres to Citus: it becomes the coordinator, and its tables are split.
func TestCitusSplitsFilledTables(t *testing.T) {
	needCitus(t)
	cluster := storetest.SharedCitus(t)
	url, err := cluster.Coordinator.NewDatabase(t.Context())
	must(t, err)
	s := openStore(t, url)
	storetest.Live(t, s, s)
	before, err := s.Audit(t.Context(), nil)
	must(t, err)
	must(t, s.Close())

	must(t, cluster.Extend(t.Context(), url))
	t.Cleanup(func() { _ = cluster.DropDatabase(context.WithoutCancel(t.Context()), url) })
	for _, mode := range []migrations.Mode{migrations.Auto, migrations.Verify} {
		if _, err := OpenWith(t.Context(), url, mode, discardLog); !errors.Is(err, schema.ErrNotSplit) {
			t.Errorf("opened with mode %s: %v, want %v", mode, err, schema.ErrNotSplit)
		}
	}
	s, err = OpenWith(t.Context(), url, migrations.Split, discardLog)
	must(t, err)
	must(t, s.Close())
	s = openStore(t, url)
	after, err := s.Audit(t.Context(), nil)
	before.Heads, after.Heads = nil, nil // the stores have opened chains
	if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the audit finds %+v, %v; before the tables were split: %+v", after, err, before)
	}
	l := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.Now()}
	p := l.Send("u1", "split", redpacket.Equal, "", 100, 1)
	if got := s.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, User: "u2", At: l.At}}); got[0].Verdict != redpacket.PaidNow {
		t.Errorf("a claim after the split: %+v", got[0])
	}
}

// TestCitusBoundsWaitsOnWorkers locks a wallet, which is on a worker: the debit must wait no longer than the lock timeout of its
// transaction.
func TestCitusBoundsWaitsOnWorkers(t *testing.T) {
	needCitus(t)
	url := migratedDatabase(t)
	s := openStore(t, url)
	createTestRoom(t, s)
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "a", User: "ann", Amount: 1000, Key: "a", Hash: []byte("a"), At: time.Now()})
	must(t, err)
	conn := connect(t, url)
	must(t, pg.Simple(t.Context(), conn, `begin`))
	must(t, pg.Simple(t.Context(), conn, `select 1 from wallets where bucket = bucket_of('ann') and user_id = 'ann' for update`))
	for way, url := range map[string]string{"directly": url, "through PgBouncer": bouncer(t)(url)} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w := writer{reader: reader{Ctx: ctx, Conn: connect(t, url), Citus: true}}
		must(t, w.begin("set local lock_timeout = 150"))
		began := time.Now()
		_, err = w.Exec(`update wallets set balance = balance where user_id = $1 /*! and bucket = bucket_of($1) */`, "ann")
		if took := time.Since(began); !pg.LockTimeout(err) || took > time.Second {
			t.Errorf("%s: waited for the lock of a worker for %v: %v, want a lock timeout after 150 ms", way, took, err)
		}
	}
}

// TestCitusCountsASendThatAWorkerHasNotCommitted lets ann send while the worker of her wallet has an earlier send that is not committed,
// and the coordinator has nothing locked, as between the two commits of a transaction. The earlier send must count for the day.
func TestCitusCountsASendThatAWorkerHasNotCommitted(t *testing.T) {
	needCitus(t)
	url := migratedDatabase(t)
	s := openStore(t, url)
	createTestRoom(t, s)
	now := time.Now()
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "a", User: "owner", Amount: 1000, Key: "a", Hash: []byte("a"), At: now})
	must(t, err)
	conn := connect(t, url)
	for _, statement := range []string{
		`begin`,
		`update wallets set balance = balance - 80 where bucket = bucket_of('owner') and user_id = 'owner'`,
		fmt.Sprintf(`insert into transfers (bucket, id, at, debit, credit, amount, kind, user_id, packet_id)
			values (bucket_of('owner'), 't', %d, 'user:owner', 'packet:p', 80, 'send', 'owner', 'p')`, now.UnixMilli()),
	} {
		must(t, pg.Simple(t.Context(), conn, statement))
	}
	sent := make(chan error, 1)
	go func() {
		_, err := s.Send(t.Context(), redpacket.UnsealedPacket{
			Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "second"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 30, Count: 1,
				CreatedAt: now, ExpiresAt: now.Add(time.Hour), Key: "second"},
			Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "e", Limits: redpacket.DayLimits{Sent: redpacket.Limit{On: true, Usual: 100}},
		})
		sent <- err
	}()
	await(t, s, `select bool_or(result <> '0') from run_command_on_workers('select count(*) from pg_locks where not granted')`)
	must(t, pg.Simple(t.Context(), conn, `commit`))
	if err := <-sent; !errors.Is(err, chat.ErrLimitExceeded) {
		t.Errorf("a send of 30 after one of 80: %v, want the limit of 100 a day to refuse it", err)
	}
}

// TestCitusCommitsInTwoPhases checks that a transaction on the coordinator and on one worker is prepared on the worker. Otherwise a
// crash of the coordinator between its own commit and that of the worker could leave one half.
func TestCitusCommitsInTwoPhases(t *testing.T) {
	needCitus(t)
	s := openStore(t, migratedDatabase(t))
	createTestRoom(t, s)
	prepared := func() (n int) {
		must(t, s.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(`select count(*) from pg_dist_transaction`, nil, &n)
			return err
		}))
		return n
	}
	before := prepared()
	must(t, s.tx(t.Context(), func(w *writer) error {
		if _, err := w.Exec(`update users set name = 'x'`); err != nil {
			return err
		}
		return tables.PutRequest(w, "ann", "k", []byte("hash"), tables.Request{})
	}))
	if after := prepared(); after <= before {
		t.Errorf("%d transactions were prepared on workers before the call, and %d after it, want one more", before, after)
	}
}

// TestCitusFailedRepetitionLosesNoChain repeats a claim in a transaction that opens a chain and then fails. The opening is rolled back,
// so the store must not use that chain again: later claims would find its link missing, as if commits were lost.
func TestCitusFailedRepetitionLosesNoChain(t *testing.T) {
	needCitus(t)
	s := openStore(t, migratedDatabase(t))
	storetest.Live(t, s, s)
	l := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.Now()}
	p := l.Send("u1", "repeated", redpacket.Equal, "", 100, 2)
	settle := func(user string, share int, want redpacket.Verdict) {
		t.Helper()
		if got := s.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, User: user, Share: share, At: l.At}})[0]; got.Verdict != want {
			t.Errorf("claim of %s: %+v, want verdict %d", user, got, want)
		}
	}
	settle("u2", 0, redpacket.PaidNow)
	run := func(sql string) {
		t.Helper()
		must(t, s.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, sql) }))
	}
	s.OnLoss(func(reason string) { t.Errorf("the store reports lost commits: %s", reason) })
	run(`update users set next_seed = null where id = 'u2'`)
	run(`create function fail() returns trigger language plpgsql as $$ begin raise exception 'fails' using errcode = '57014'; end $$`)
	run(`create trigger fail before insert or update on users for each row execute function fail()`)
	s.seeded.forget()
	s.chains.forget()
	settle("u2", 0, redpacket.Unsettled)
	run(`drop trigger fail on users`)
	settle("u3", 1, redpacket.PaidNow)
	settle("u2", 0, redpacket.Duplicate)
}

// TestCitusAuditWhileWriting audits while users win shares: no difference must be reported, and a real one must be found.
func TestCitusAuditWhileWriting(t *testing.T) {
	needCitus(t)
	url := migratedDatabase(t)
	s := openStore(t, url)
	l := fundedRoom(t, s)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			p := l.Send("owner", fmt.Sprintf("packet-%d", i), redpacket.Equal, "", 40, 40)
			var claims []redpacket.Claim
			for n := range 40 {
				claims = append(claims, redpacket.Claim{Ref: p.Ref, Share: n, User: fmt.Sprintf("winner-%d", n), At: l.At})
			}
			for _, settled := range s.Settle(context.WithoutCancel(t.Context()), claims) {
				if settled.Verdict != redpacket.PaidNow {
					t.Errorf("settled %+v", settled)
				}
			}
		}
	}()
	for range 4 {
		if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
			t.Errorf("while claims are paid: %v, %v", a.Differences, err)
		}
	}
	close(stop)
	<-done
	must(t, pg.Simple(t.Context(), connect(t, url), `update wallets set balance = balance + 1 where bucket = bucket_of('winner-1') and user_id = 'winner-1'`))
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) == 0 {
		t.Errorf("a forged balance was not found: %v", err)
	}
}

// TestCitusWorkerKilled kills one of two workers. Claims and texts that need its rows are unavailable, others are stored, claims also in
// one call. When the worker is back, all are stored, once.
func TestCitusWorkerKilled(t *testing.T) {
	needCitus(t)
	cluster, url := ownCluster(t)
	s := openStore(t, url)
	l := fundedRoom(t, s)
	here, there := workersOf(t, connect(t, url), cluster)
	claimOf := func(packet, user func(string) bool, n int) redpacket.Claim {
		p := l.Send("owner", named(packet, fmt.Sprint("packet-", n)), redpacket.Equal, "", 10, 1)
		return redpacket.Claim{Ref: p.Ref, User: named(user, fmt.Sprint("user-", n)), At: l.At}
	}
	sender := named(there, "sender") // its keys are on the worker that lives
	roomOn := func(fits func(string) bool) string {
		room := named(fits, "texts")
		_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{
			ID: room, Name: room, Kind: chat.Public, Owner: chat.User{ID: sender}, Key: room, Hash: []byte("h"), At: l.At, MaxRooms: 10,
		})
		must(t, err)
		return room
	}
	say := func(room string) error {
		text := textDraft(1)
		text.ID, text.Room, text.Key = "text-"+room, room, "text-"+room
		text.From.ID = sender
		_, _, err := s.Append(t.Context(), text)
		return err
	}
	roomHere, roomThere := roomOn(here), roomOn(there)
	claims := []redpacket.Claim{claimOf(there, there, 1), claimOf(there, here, 2), claimOf(here, there, 3), claimOf(there, there, 4)}

	cluster.Workers[0].Kill()
	for i, settled := range s.Settle(t.Context(), claims) {
		if unaffected := i == 0 || i == 3; unaffected != (settled.Verdict == redpacket.PaidNow) || !unaffected && !errors.Is(settled.Err, chat.ErrUnavailable) {
			t.Errorf("claim %d, while a worker is dead: %+v", i, settled)
		}
	}
	if err := say(roomHere); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a text in a room of the dead worker: %v, want unavailable", err)
	}
	if err := say(roomThere); err != nil {
		t.Errorf("a text in a room of the other worker: %v", err)
	}
	must(t, cluster.Workers[0].Restart(t.Context()))
	within(t, 20*time.Second, "all claims are settled after the worker is back", func() bool {
		return !slices.ContainsFunc(s.Settle(t.Context(), claims), func(s redpacket.Settlement) bool { return s.Err != nil })
	})
	if err := say(roomHere); err != nil {
		t.Errorf("the same text after the worker is back: %v", err)
	}
	a, err := s.Audit(t.Context(), nil)
	if err != nil || len(a.Differences) > 0 || a.Claims != 4 {
		t.Errorf("the audit finds %d claims, %v, %v; want 4", a.Claims, a.Differences, err)
	}
}

// TestCitusCoordinatorKilledInCommit kills the coordinator in the midst of the commit of a claim: before its own commit, when the workers
// have prepared, and after it, before the workers are told. In the first case Citus rolls all nodes back, in the second one it commits on
// all. The claim is paid once in either case.
func TestCitusCoordinatorKilledInCommit(t *testing.T) {
	needCitus(t)
	const prepared = `select count(*) from pg_prepared_xacts`
	for name, test := range map[string]struct {
		stuck  func(c *loopback.Citus) *loopback.Postgres // the node that never answers, as if it waited for a synchronous standby
		at     string                                     // the text of the statement in which it is stuck
		claims int
		again  redpacket.Verdict
	}{
		"before its own commit": {func(c *loopback.Citus) *loopback.Postgres { return c.Workers[1] }, "prepare transaction%", 0, redpacket.PaidNow},
		"after its own commit":  {func(c *loopback.Citus) *loopback.Postgres { return c.Coordinator }, "%", 1, redpacket.Duplicate},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, url := ownCluster(t)
			s := openStore(t, url)
			l := fundedRoom(t, s)
			here, there := workersOf(t, connect(t, url), cluster)
			p := l.Send("owner", named(here, "packet"), redpacket.Equal, "", 10, 1)
			claim := []redpacket.Claim{{Ref: p.Ref, User: named(there, "user"), At: l.At}}

			stuck := connect(t, test.stuck(cluster).URL("postgres"))
			must(t, pg.Simple(t.Context(), stuck, `alter system set synchronous_standby_names = 'nobody'`))
			must(t, pg.Simple(t.Context(), stuck, `select pg_reload_conf()`))
			settled := make(chan redpacket.Settlement)
			go func() { settled <- s.Settle(context.WithoutCancel(t.Context()), claim)[0] }()
			count := func(conn *pgx.Conn, query string, args ...any) (n int) {
				must(t, conn.QueryRow(t.Context(), query, args...).Scan(&n))
				return n
			}
			within(t, 10*time.Second, "the commit is stuck", func() bool {
				return count(stuck, `select count(*) from pg_stat_activity 
					where backend_type = 'client backend' and wait_event = 'SyncRep' and query ilike $1`, test.at) > 0
			})
			for _, w := range cluster.Workers {
				if n := count(connect(t, w.URL("postgres")), prepared); n != 1 {
					t.Fatalf("%d transactions are prepared on a worker, want 1", n)
				}
			}
			must(t, pg.Simple(t.Context(), stuck, `alter system reset synchronous_standby_names`))
			cluster.Coordinator.Kill()
			if got := <-settled; !errors.Is(got.Err, chat.ErrUnavailable) {
				t.Errorf("the claim, while the coordinator is dead: %+v, want unavailable", got)
			}
			if test.stuck(cluster) != cluster.Coordinator {
				must(t, pg.Simple(t.Context(), stuck, `select pg_reload_conf()`))
			}

			must(t, cluster.Coordinator.Restart(t.Context()))
			for _, w := range cluster.Workers {
				conn := connect(t, w.URL("postgres"))
				within(t, 20*time.Second, "Citus has ended the prepared transactions", func() bool {
					must(t, pg.Simple(t.Context(), connect(t, url), `select recover_prepared_transactions()`)) // as its maintenance does each minute
					return count(conn, prepared) == 0
				})
			}
			if n := count(connect(t, url), `select count(*) from claims`); n != test.claims {
				t.Errorf("%d claims after the recovery, want %d", n, test.claims)
			}
			var last redpacket.Settlement
			within(t, 10*time.Second, "the store has connected again", func() bool {
				last = s.Settle(t.Context(), claim)[0]
				return last.Err == nil
			})
			if last.Verdict != test.again || last.Amount != 10 {
				t.Errorf("the same claim again: %+v, want verdict %d", last, test.again)
			}
			if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Claims != 1 {
				t.Errorf("the audit finds %d claims, %v, %v; want 1", a.Claims, a.Differences, err)
			}
		})
	}
}

// ownCluster starts a cluster with two workers for one test, which may kill its nodes. It returns the URL of an empty database there.
func ownCluster(t *testing.T) (cluster *loopback.Citus, url string) {
	t.Helper()
	cluster, err := loopback.StartCitus(t.Context(), t.TempDir(), 2)
	must(t, err)
	t.Cleanup(cluster.Stop)
	url, err = cluster.NewDatabase(t.Context())
	must(t, err)
	return cluster, url
}

// workersOf returns functions that report whether the rows of an id are on the first or on the second worker.
func workersOf(t *testing.T, conn *pgx.Conn, cluster *loopback.Citus) (first, second func(id string) bool) {
	t.Helper()
	on := map[string]bool{}
	first = func(id string) bool {
		if known, ok := on[id]; ok {
			return known
		}
		var addr string
		must(t, conn.QueryRow(t.Context(), `select nodename || ':' || nodeport from pg_dist_shard_placement
			where shardid = get_shard_id_for_distribution_column('wallets', bucket_of($1))`, id).Scan(&addr))
		on[id] = addr == cluster.Workers[0].Addr()
		return on[id]
	}
	return first, func(id string) bool { return !first(id) }
}

// named returns an id that begins like this and for which fits is true.
func named(fits func(string) bool, prefix string) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint(prefix, "-", i); fits(id) {
			return id
		}
	}
}

// within waits until the condition is true, and fails the test if it is not after this time.
func within(t *testing.T, limit time.Duration, condition string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) { // sleeps: polls, for nothing announces it
		if time.Now().After(until) {
			t.Fatalf("not within %v: %s", limit, condition)
		}
	}
}
