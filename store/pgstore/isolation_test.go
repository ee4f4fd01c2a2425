package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// isolationTest is a database with two instances, two rooms and packets in both. Tests lock one of its rows or make
// it bad.
type isolationTest struct {
	*testing.T
	instances []*Store
	life      *storetest.Life
	packets   []redpacket.Packet
}

const others = 100

func newIsolationTest(t *testing.T) *isolationTest {
	all := instances(t, 2)
	i := &isolationTest{T: t, instances: all, life: fundedRoom(t, all[0])}
	_, _, err := all[0].CreateRoom(t.Context(), chat.NewRoom{
		ID: "room-2", Name: "another", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k2", Hash: []byte("h"), At: time.Now(), MaxRooms: 9,
	})
	must(t, err)
	for n := range 2 {
		i.packets = append(i.packets, i.life.Send("owner", fmt.Sprint("packet-", n), redpacket.Equal, "", 10*(others+1), others+1))
	}
	return i
}

// hold runs the statement, which locks rows, in a transaction that lasts until end is called.
func (i *isolationTest) hold(sql string) (end func()) {
	i.Helper()
	return hold(i.T, i.instances[0], sql)
}

func hold(t *testing.T, s *Store, sql string) (end func()) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), s.pool.ConnConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.CloseConn(conn) })
	must(t, pg.Simple(t.Context(), conn, "begin"))
	tag, err := conn.Exec(t.Context(), sql)
	must(t, err)
	if tag.RowsAffected() == 0 && tag.String() != "LOCK TABLE" {
		t.Fatalf("%s: no such row", sql)
	}
	return sync.OnceFunc(func() { must(t, pg.Simple(context.Background(), conn, "rollback")) })
}

// claim returns the claim of user n in the given packet.
func (i *isolationTest) claim(packet, n int) redpacket.Claim {
	return redpacket.Claim{Ref: i.packets[packet].Ref, Share: n, User: fmt.Sprint("user-", n), Entry: "1", At: time.Now()}
}

// settleOne settles a claim through instance n (modulo their number). If patient is set, it repeats the call until
// the claim is settled.
func (i *isolationTest) settleOne(n int, c redpacket.Claim, patient bool) redpacket.Settlement {
	for {
		s := i.instances[n%len(i.instances)].Settle(context.Background(), []redpacket.Claim{c})[0]
		if s.Verdict != redpacket.Unsettled || !patient {
			return s
		}
	}
}

// wantOthersServed calls do for each of the other users. The error of do is that of a call that may be made again. In make test, each call
// is repeated until it succeeds: while the bad row stays as it is, a defect makes all fail. In make nightly, nine of ten calls must
// succeed at once, in half the patience. On a quiet machine all do, and within a second; a defect delays nearly all of them until patience ends.
func (i *isolationTest) wantOthersServed(do func(n int) error) {
	i.Helper()
	if !enginetest.Tonight("waits") {
		i.wantOthersServedInTheEnd(do)
		return
	}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed int
		worst  time.Duration
	)
	for n := range others {
		wg.Go(func() {
			time.Sleep(time.Duration(n) * 5 * time.Millisecond) // sleeps: so some calls share a batch with the bad row, and others come later
			began := time.Now()
			err := do(n)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, took)
			if err != nil || took > pg.Patience/2 {
				failed++
				i.Logf("call %d: %v after %v", n, err, took)
			}
		})
	}
	wg.Wait()
	i.Logf("slowest of %d other calls: %v", others, worst)
	if failed > others/10 {
		i.Errorf("%d of %d other calls failed or took more than %v", failed, others, pg.Patience/2)
	}
}

// wantOthersServedInTheEnd repeats each call until it succeeds, for at most a minute.
func (i *isolationTest) wantOthersServedInTheEnd(do func(n int) error) {
	i.Helper()
	until := time.Now().Add(time.Minute)
	var all sync.WaitGroup
	for n := range others {
		all.Go(func() {
			for err := do(n); err != nil; err = do(n) {
				if time.Now().After(until) {
					i.Errorf("call %d: %v", n, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// pay settles the claim by instance n. It returns an error unless the claim is paid now. In make test, it may also have been paid by an
// earlier call, whose outcome was unknown.
func (i *isolationTest) pay(n int, c redpacket.Claim) error {
	s := i.settleOne(n, c, false)
	if s.Verdict == redpacket.PaidNow || s.Verdict == redpacket.Duplicate && !enginetest.Tonight("waits") {
		return nil
	}
	return fmt.Errorf("%+v", s)
}

// TestLockedRowDelaysOnlyItsOwnClaims locks a wallet, a user, a packet or a key while other users grab. Their claims
// are paid at once. The claim that needs the locked row is paid once the row is free.
func TestLockedRowDelaysOnlyItsOwnClaims(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, sql string
		packet    int // index of the packet from which the other users grab
	}{
		{"wallet", `select 1 from wallets where user_id = 'stuck' for update`, 0},
		{"user", `select 1 from users where id = 'stuck' for update`, 0},
		{"packet", `select 1 from packets where id = 'packet-0' for update`, 1},
		{"wallet that is being made", `insert into wallets (user_id, balance) values ('stuck', 0)`, 0},
		{"claim that is being made", `insert into claims (packet_id, share_no, user_id, amount, at, transfer)
			values ('packet-0', 100, 'nobody', 1, 0, 'none')`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIsolationTest(t)
			if test.name == "wallet" {
				_, _, err := i.instances[0].Adjust(t.Context(), redpacket.Adjustment{ID: "a", User: "stuck", Amount: 1, Key: "a", Hash: []byte("h"), At: i.life.At})
				must(t, err)
			}
			if test.name == "user" {
				_, _, err := i.instances[0].PutUser(t.Context(), chat.Profile{User: chat.User{ID: "stuck"}}, 0)
				must(t, err)
			}
			free := i.hold(test.sql)
			stuck := i.claim(0, others)
			stuck.User = "stuck"
			paid := make(chan redpacket.Settlement, 1)
			go func() { paid <- i.settleOne(0, stuck, true) }()
			i.wantOthersServed(func(n int) error {
				return i.pay(n, i.claim(test.packet, n))
			})
			select {
			case s := <-paid:
				t.Errorf("claim settled while its row is locked: %+v", s)
			default:
			}
			free()
			freed := time.Now()
			select {
			case s := <-paid:
				t.Logf("paid %v after the unlock", time.Since(freed))
				if s.Verdict != redpacket.PaidNow {
					t.Errorf("after the unlock: %+v", s)
				}
			case <-time.After(30 * time.Second):
				t.Error("not paid within 30 s after the unlock")
			}
			wantBalanced(t, i.instances[0])
			if err := i.instances[0].pool.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLockedRowDelaysOnlyItsOwnTexts locks a room, a member or a key while other users send texts. Only texts that
// need the locked row wait.
func TestLockedRowDelaysOnlyItsOwnTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, sql, room string }{
		{"room", `select 1 from rooms where id = 'room-1' for update`, "room-2"},
		{"member", `select 1 from members where room_id = 'room-1' and user_id = 'owner' for update`, room},
		{"key", `insert into requests (user_id, key, hash, room_id) values ('owner', 'stuck', 'h', 'room-1')`, room},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIsolationTest(t)
			for n := range others {
				user := chat.User{ID: fmt.Sprint("user-", n)}
				for _, r := range []string{room, "room-2"} {
					_, _, err := i.instances[0].Join(t.Context(), chat.Joining{Room: r, User: user.ID, At: time.Now(), MaxRooms: 9, MaxMembers: 1000})
					must(t, err)
				}
			}
			free := i.hold(test.sql)
			stuck := textDraft(others)
			stuck.Key = "stuck"
			appended := make(chan error, 1)
			go func() {
				for {
					_, _, err := i.instances[0].Append(context.Background(), stuck)
					if err == nil || !errors.Is(err, chat.ErrUnavailable) {
						appended <- err
						return
					}
				}
			}()
			i.wantOthersServed(func(n int) error {
				d := textDraft(n)
				d.Room, d.From.ID = test.room, fmt.Sprint("user-", n)
				_, _, err := i.instances[n%2].Append(context.Background(), d)
				return err
			})
			if len(appended) > 0 {
				t.Errorf("append returned while its row is locked: %v", <-appended)
			}
			free()
			select {
			case err := <-appended:
				must(t, err)
			case <-time.After(30 * time.Second):
				t.Error("not appended within 30 s after the unlock")
			}
			wantBalanced(t, i.instances[0])
		})
	}
}

// TestPoisonedUserDelaysNoOther makes Postgres refuse the rows of one user with various errors. Other users' claims
// are paid. So the row is at fault, and this user's claim must become Unpayable.
func TestPoisonedUserDelaysNoOther(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"P0001", "XX001", "42501", "55P03", "23514", "22003"} {
		t.Run(code, func(t *testing.T) {
			i := newIsolationTest(t)
			poison(t, i.instances[0], "wallets", "user_id", "stuck", code)
			bad := i.claim(0, others)
			bad.User = "stuck"
			verdict := make(chan redpacket.Settlement, 1)
			go func() { verdict <- i.settleOne(0, bad, true) }()
			i.wantOthersServed(func(n int) error {
				return i.pay(n, i.claim(0, n))
			})
			for n := 0; len(verdict) == 0; n++ { // settles other claims, because only their commits show that the row is at fault
				i.settleOne(0, i.claim(1, n), false)
			}
			if s := <-verdict; s.Verdict != redpacket.Unpayable || s.Why == "" {
				t.Errorf("poisoned claim: %+v", s)
			}
			wantBalanced(t, i.instances[0])
		})
	}
}

// TestExhaustedMachineMakesNoClaimUnpayable makes the rows of one user fail for lack of time, memory or disk, while the claims of others
// are paid. An overloaded machine does the same to healthy claims. So the claim must stay unsettled, and be paid once its row can be written.
func TestExhaustedMachineMakesNoClaimUnpayable(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"57014", "53200", "58030"} {
		t.Run(code, func(t *testing.T) {
			i := newIsolationTest(t)
			poison(t, i.instances[0], "wallets", "user_id", "stuck", code)
			bad := i.claim(0, others)
			bad.User = "stuck"
			for n := range 3 {
				verdict := make(chan redpacket.Settlement, 1)
				go func() { verdict <- i.settleOne(0, bad, false) }()
				for m := 0; len(verdict) == 0; m++ {
					i.settleOne(0, i.claim(1, m%others), false)
				}
				if s := <-verdict; s.Verdict != redpacket.Unsettled || !errors.Is(s.Err, chat.ErrUnavailable) {
					t.Errorf("try %d: %+v, want it unsettled", n, s)
				}
			}
			must(t, i.instances[0].withReader(t.Context(), func(r reader) error {
				return pg.Simple(r.Ctx, r.Conn, `drop trigger poison on wallets`)
			}))
			if s := i.settleOne(0, bad, true); s.Verdict != redpacket.PaidNow {
				t.Errorf("after the fault: %+v, want it paid", s)
			}
			wantBalanced(t, i.instances[0])
		})
	}
}

// TestWritesBoundTheirStatements gives the database a statement_timeout of its own. No writing transaction may have it: a short
// one would fail healthy statements of a busy server.
func TestWritesBoundTheirStatements(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	must(t, openStore(t, url).withReader(t.Context(), func(r reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `do $$ begin execute 'alter database ' || quote_ident(current_database()) || ' set statement_timeout = ''7h'''; end $$`); err != nil {
			return err
		}
		return pg.Simple(r.Ctx, r.Conn, `create function bounded() returns trigger language plpgsql as $$ begin
				if current_setting('statement_timeout') in ('7h', '0') then raise exception 'the statement_timeout of the database is used by %', tg_table_name; end if; return new; end $$;
			create trigger bounded before insert or update on wallets for each row execute function bounded();
			create trigger bounded before insert or update on rooms for each row execute function bounded();
			create trigger bounded before insert on claims for each row execute function bounded()`)
	}))
	s := openStore(t, url)
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Equal, "", 30, 3)
	_, _, err := s.Append(t.Context(), textDraft(1))
	must(t, err)
	for _, skip := range []bool{false, true} {
		j := &settleJob{Claim: redpacket.Claim{Ref: p.Ref, Share: map[bool]int{true: 1}[skip], User: fmt.Sprint("user-", skip), Entry: "1", At: l.At}, transfer: chat.NewID(l.At)}
		if _, err := s.settleAll(t.Context(), []*settleJob{j}, skip); err != nil || j.answer.Verdict != redpacket.PaidNow {
			t.Errorf("skip locked rows %v: %+v, %v", skip, j.answer, err)
		}
	}
	_, err = s.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done", Grants: []redpacket.Grant{{User: "late", Share: 2}}})
	must(t, err)
}

// TestFailingDatabaseMakesNoClaimUnpayable makes Postgres refuse every claim with various errors. Then the database
// is at fault, so no claim may become Unpayable.
func TestFailingDatabaseMakesNoClaimUnpayable(t *testing.T) {
	for _, code := range []string{"42501", "57014", "53200", "58030"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			i := newIsolationTest(t)
			poison(t, i.instances[0], "wallets", "user_id", "", code)
			var claims []redpacket.Claim
			for n := range 10 {
				claims = append(claims, i.claim(0, n))
			}
			for n, s := range i.instances[0].Settle(t.Context(), claims) {
				if s.Verdict != redpacket.Unsettled || !errors.Is(s.Err, chat.ErrUnavailable) {
					t.Errorf("claim %d: %+v, want unsettled", n, s)
				}
			}
		})
	}
}

// TestPassingErrorQuarantinesNoClaim makes one row fail with errors that may pass: a cancelled statement, lack of
// memory, system errors. The row fails in each batch that contains it and then alone, up to the last try but one. All
// claims must be paid: the others after the batch is halved, and the failing one after retries in its lane.
func TestPassingErrorQuarantinesNoClaim(t *testing.T) {
	for _, code := range []string{"57014", "53200", "58000", "58030"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			const size, bad = 8, 5
			i := newIsolationTest(t)
			s := i.instances[0]
			failures := 3 + 3 // fails in batches of 8, 4 and 2, and then alone; the fourth try alone is the last
			must(t, s.withReader(t.Context(), func(r reader) error {
				return pg.Simple(r.Ctx, r.Conn, fmt.Sprintf(`create sequence failures;
					create function fail_some() returns trigger language plpgsql as
						$$ begin if nextval('failures') <= %d then raise exception 'passing' using errcode = '%s'; end if; return new; end $$;
					create trigger fail_some before insert on wallets for each row when (new.user_id = 'user-%d') execute function fail_some()`,
					failures, code, bad))
			}))
			for n, answer := range settleInOneBatch(t, s, func(n int) redpacket.Claim { return i.claim(0, n) }, size) {
				if answer.Verdict != redpacket.PaidNow {
					t.Errorf("claim %d: verdict %d, %q, want it paid", n, answer.Verdict, answer.Why)
				}
			}
			var tries int
			must(t, s.withReader(t.Context(), func(r reader) error {
				_, err := r.Row(`select last_value from failures`, nil, &tries)
				return err
			}))
			if tries != failures+1 {
				t.Errorf("the bad row was tried %d times, want %d", tries, failures+1)
			}
			wantBalanced(t, s)
		})
	}
}

// settleInOneBatch settles the claims while the transaction of another one, claim(size), is held up. So the next transaction
// has all of them.
func settleInOneBatch(t *testing.T, s *Store, claim func(n int) redpacket.Claim, size int) []redpacket.Settlement {
	t.Helper()
	began, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(began); <-released })
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	held := s.settleWork()
	held.Patience = time.Minute // a busy machine may need long to halve the batch
	run := held.Run
	held.Run = func(ctx context.Context, jobs []*settleJob, skip bool) ([]string, error) {
		hold()
		return run(ctx, jobs, skip)
	}
	s.claims.Close()
	s.claims = batch.New(held, make(chan struct{}, 1), s.log)
	var wg sync.WaitGroup
	wg.Go(func() { s.Settle(t.Context(), []redpacket.Claim{claim(size)}) })
	<-began
	claims := make([]redpacket.Claim, size)
	for n := range claims {
		claims[n] = claim(n)
	}
	var answers []redpacket.Settlement
	wg.Go(func() { answers = s.Settle(t.Context(), claims) })
	for until := time.Now().Add(30 * time.Second); s.claims.Waiting() < size; time.Sleep(time.Millisecond) { // sleeps: polls, for nothing announces it
		if time.Now().After(until) {
			t.Fatalf("%d of %d claims are queued after 30 s", s.claims.Waiting(), size)
		}
	}
	release()
	wg.Wait()
	return answers
}

// TestPoisonedSenderFailsAlone makes Postgres refuse the entries of one sender. The texts of other senders are
// appended.
func TestPoisonedSenderFailsAlone(t *testing.T) {
	t.Parallel()
	i := newIsolationTest(t)
	poison(t, i.instances[0], "entries", "sender", "owner", "P0001")
	for n := range others {
		_, _, err := i.instances[0].Join(t.Context(), chat.Joining{Room: room, User: fmt.Sprint("user-", n), At: time.Now(), MaxRooms: 9, MaxMembers: 1000})
		must(t, err)
	}
	var wg sync.WaitGroup
	for n := range 5 {
		wg.Go(func() {
			if _, _, err := i.instances[0].Append(t.Context(), textDraft(1000+n)); !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("poisoned sender: %v", err)
			}
		})
	}
	i.wantOthersServed(func(n int) error {
		d := textDraft(n)
		d.From.ID = fmt.Sprint("user-", n)
		_, _, err := i.instances[n%2].Append(context.Background(), d)
		return err
	})
	wg.Wait()
	wantBalanced(t, i.instances[0])
}

// poison makes Postgres refuse, with the SQLSTATE code, each row of the table whose column has this value. With an
// empty value it refuses all rows.
func poison(t *testing.T, s *Store, table, column, value, code string) {
	t.Helper()
	must(t, s.withReader(t.Context(), func(r reader) error {
		return pg.Simple(r.Ctx, r.Conn, fmt.Sprintf(`create function poison() returns trigger language plpgsql as
			$$ begin raise exception 'poisoned' using errcode = '%s'; end $$;
			create trigger poison before insert or update on %s for each row when ('%s' in (new.%s, '')) execute function poison()`,
			code, table, value, column))
	}))
}

// TestCallersOfLockedRoomLeaveConnections makes 200 single transactions wait for one locked room. Calls for other
// rooms must find connections.
func TestCallersOfLockedRoomLeaveConnections(t *testing.T) {
	t.Parallel()
	i := newIsolationTest(t)
	free := i.hold(`select 1 from rooms where id = 'room-2' for update`)
	var joins sync.WaitGroup
	for n := range 200 {
		joins.Go(func() {
			_, _, _ = i.instances[0].Join(context.Background(), chat.Joining{Room: "room-2", User: fmt.Sprint("joiner-", n), At: time.Now(), MaxRooms: 9, MaxMembers: 1000})
		})
	}
	awaitBlocked(t, i.instances[1])
	i.wantOthersServed(func(n int) error {
		return i.pay(0, i.claim(0, n))
	})
	free()
	joins.Wait()
}

// TestLockedTableFailsCallsInTime locks a table, so that no claim can be written. All calls must fail within their
// patience, not one after another.
func TestLockedTableFailsCallsInTime(t *testing.T) {
	t.Parallel()
	i := newIsolationTest(t)
	i.settleOne(0, i.claim(0, others), false) // prepares the statements
	free := i.hold(`lock table wallets in access exclusive mode`)
	var all sync.WaitGroup
	for n := range others {
		all.Go(func() {
			began := time.Now()
			if s := i.settleOne(0, i.claim(0, n), false); s.Verdict != redpacket.Unsettled || time.Since(began) > inTime && enginetest.Tonight("waits") {
				t.Errorf("%+v after %v", s, time.Since(began))
			}
		})
	}
	all.Wait()
	free()
	if s := i.settleOne(0, i.claim(0, 0), true); s.Verdict != redpacket.PaidNow {
		t.Errorf("after the unlock: %+v", s)
	}
	wantBalanced(t, i.instances[0])
}
