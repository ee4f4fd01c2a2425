package presence

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// testLease is a lease that passes only by advance.
const testLease = time.Hour

func TestPresence(t *testing.T) {
	t.Parallel()
	testPresence(t, storetest.RedisDatabase(t))
}

func TestPresenceCluster(t *testing.T) {
	t.Parallel()
	testPresence(t, storetest.RedisCluster(t).URL())
}

// testPresence runs the tests of chat.Presence's contract with leases that pass at once.
func testPresence(t *testing.T, url string) {
	storetest.TestPresence(t, func(t *testing.T) storetest.PresenceUnderTest {
		client := redistest.Dial(t, url)
		u := presenceUnderTest(t, client, url, testLease)
		u.Advance = func(d time.Duration) { advance(t, client, d) }
		u.Renew = func() {
			renewAll(t, u.A.(*Presence))
			renewAll(t, u.B.(*Presence))
		}
		return u
	})
}

// TestPresenceByTheClock runs the tests of chat.Presence's contract with real leases, which Run renews.
func TestPresenceByTheClock(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()                  // it waits for leases
	const lease = 6 * time.Second // long enough for a busy machine
	for name, url := range map[string]string{"single": storetest.RedisDatabase(t), "cluster": redistest.PartialCluster(t).URL()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.TestPresence(t, func(t *testing.T) storetest.PresenceUnderTest {
				return presenceUnderTest(t, redistest.Dial(t, url), url, lease)
			})
		})
	}
}

func presenceUnderTest(t *testing.T, admin redis.UniversalClient, url string, lease time.Duration) storetest.PresenceUnderTest {
	a, b := redistest.Dial(t, url), redistest.Dial(t, url)
	forget := func() { redistest.ForgetKeys(t, admin, "on:*") }
	forget()
	return storetest.PresenceUnderTest{
		A: newPatient(a, Options{Lease: lease}), B: newPatient(b, Options{Lease: lease}),
		Lease: lease, Kill: func() { _ = b.Close() }, Forget: forget,
	}
}

// advance makes all leases end earlier by d, as if d had passed.
func advance(t *testing.T, client redis.UniversalClient, d time.Duration) {
	t.Helper()
	const shorten = `
		for _, key in ipairs(redis.call('KEYS', 'on:*')) do
		  local sockets = redis.call('HGETALL', key)
		  for i = 1, #sockets, 2 do
		    local since, ends = string.match(sockets[i + 1], '^(%d+) (%d+)$')
		    redis.call('HSET', key, sockets[i], since .. ' ' .. string.format('%.0f', ends - ARGV[1]))
		  end
		  redis.call('PEXPIRE', key, redis.call('PTTL', key) - ARGV[1])
		end
		return 1`
	redistest.EachMaster(t, client, func(ctx context.Context, node *redis.Client) error {
		return node.Eval(ctx, shorten, nil, d.Milliseconds()).Err()
	})
}

// renewAll renews all sockets of the instance once, as Run does three times in each lease. It ignores failures, as Run does.
func renewAll(t *testing.T, p *Presence) {
	for slot := range slotCount {
		if users := p.local.users(slot); len(users) > 0 {
			_ = p.renew(t.Context(), users)
		}
	}
}

// newPatient returns a presence whose calls do not fail on a busy machine.
func newPatient(client redis.UniversalClient, o Options) *Presence {
	p := New(client, o)
	p.callTimeout = time.Minute
	return p
}

// runPresence runs a presence until the test ends.
func runPresence(t *testing.T, p *Presence) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func enter(t *testing.T, p *Presence, user, socket string) {
	t.Helper()
	if _, _, err := p.Enter(t.Context(), user, socket, 9); err != nil {
		t.Fatal(err)
	}
}

// wantOnline waits until the user is online, or offline, but not longer than a minute. It looks once more when the time is over.
func wantOnline(t *testing.T, p *Presence, user string, want bool, within time.Duration) {
	t.Helper()
	within = min(within, time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(within); ; <-tick.C {
		last := !time.Now().Before(deadline)
		got, err := p.Online(t.Context(), []string{user})
		if err == nil && got[0] == want {
			return
		}
		if last {
			t.Fatalf("%s is not online=%v within %v: %v, %v", user, want, within, got, err)
		}
	}
}

// TestPresenceOutage makes Redis silent, then kills it, then restarts it without data. Sockets that entered or left
// meanwhile finally count as if Redis had never failed.
func TestPresenceOutage(t *testing.T) {
	t.Parallel() // it waits for timeouts
	server := storetest.Redis(t)
	p := New(redistest.Dial(t, server.URL()), Options{Lease: testLease})
	testOutage(t, server, p, func() {
		for range 2 { // two renewals in a lease
			renewAll(t, p)
			advance(t, p.client, testLease/2)
		}
	})
}

// TestPresenceOutageByTheClock is TestPresenceOutage with a real lease, which Run renews.
func TestPresenceOutageByTheClock(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel() // it waits for timeouts and leases
	server := storetest.Redis(t)
	p := New(redistest.Dial(t, server.URL()), Options{Lease: 6 * time.Second})
	runPresence(t, p)
	testOutage(t, server, p, func() {})
}

// testOutage causes the faults. passLease lets a lease pass in which p renews its sockets; the test waits for the result, too.
func testOutage(t *testing.T, server *loopback.Redis, p *Presence, passLease func()) {
	enter(t, p, "before", "1")
	enter(t, p, "gone", "2")
	fails := map[string]func() error{
		"enter":  func() error { _, _, err := p.Enter(t.Context(), "meanwhile", "3", 9); return err },
		"leave":  func() error { _, err := p.Leave(t.Context(), "gone", "2"); return err },
		"online": func() error { _, err := p.Online(t.Context(), []string{"before"}); return err },
	}
	server.Pause()
	redistest.WantUnavailable(t, fails)
	server.Resume()
	passLease()
	wantOnline(t, p, "meanwhile", true, p.lease)
	wantOnline(t, p, "before", true, p.lease)
	wantOnline(t, p, "gone", false, 2*p.lease)

	server.Kill()
	redistest.WantUnavailable(t, fails)
	noError(t, server.Restart(t.Context()))
	passLease()
	wantOnline(t, p, "before", true, 2*p.lease)
	wantOnline(t, p, "meanwhile", true, p.lease)
	wantOnline(t, p, "gone", false, 2*p.lease)
}

// TestPresenceScriptsForgotten deletes the scripts on a node. Calls in a pipeline are repeated with the script's
// text.
func TestPresenceScriptsForgotten(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	p := newPatient(client, Options{Lease: testLease})
	var users []localUser
	for i := range 50 {
		user := fmt.Sprint("u", i)
		enter(t, p, user, "s")
		users = append(users, localUser{user, []localSocket{p.local.add(user, "s")}})
	}
	redistest.ForgetKeys(t, client, "on:*")
	for _, u := range users {
		wantOnline(t, p, u.user, false, testLease)
	}
	noError(t, client.ScriptFlush(t.Context()).Err())
	noError(t, p.renewSome(t.Context(), users))
	for _, u := range users {
		wantOnline(t, p, u.user, true, testLease)
	}
	noError(t, client.ScriptFlush(t.Context()).Err())
	noError(t, p.forget(t.Context(), users))
	if n := client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// TestPresenceKeysEnd checks that a user's key expires with the leases of dead instances, even if another socket with
// a longer lease left before.
func TestPresenceKeysEnd(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	const lease = 300 * time.Millisecond
	one, two := newPatient(client, Options{Lease: lease}), newPatient(client, Options{Lease: 2 * time.Hour})
	for i := range 20 {
		enter(t, one, fmt.Sprint("u", i), "s")
	}
	enter(t, one, "alone", "short") // entered before the user "both", so its lease ends no later
	enter(t, two, "alone", "long")
	enter(t, one, "both", "short")
	enter(t, two, "both", "long")
	if _, err := two.Leave(t.Context(), "both", "long"); err != nil {
		t.Fatal(err)
	}
	if ttl := client.PTTL(t.Context(), userKey("both")).Val(); ttl > lease {
		t.Errorf("a key lasts for %v though its last lease is one of %v", ttl, lease)
	}
	for _, user := range []string{"u0", "u19", "both"} {
		wantOnline(t, one, user, false, 2*lease)
	}
	if last, err := two.Leave(t.Context(), "alone", "long"); err != nil || !last {
		t.Errorf("the last live socket leaves beside an expired one: %v, %v; want true", last, err)
	}
}

// TestPresenceLeaveDuringRenewal lets a socket leave while it is being renewed. Afterwards the user is offline.
func TestPresenceLeaveDuringRenewal(t *testing.T) {
	p := newPatient(redistest.Dial(t, storetest.RedisDatabase(t)), Options{Lease: time.Hour})
	enter(t, p, "u", "1")
	onItsWay := []localUser{{"u", []localSocket{p.local.add("u", "1")}}}
	if _, err := p.Leave(t.Context(), "u", "1"); err != nil {
		t.Fatal(err)
	}
	noError(t, p.renewSome(t.Context(), onItsWay))
	wantOnline(t, p, "u", false, 0)
}

// TestPresenceRenewsOnlyEnteredSockets checks that a renewal skips a socket whose Enter is under way. Otherwise it
// could change the socket's age, or bring it back after its Leave. After a failed Enter the renewal must enter it.
func TestPresenceRenewsOnlyEnteredSockets(t *testing.T) {
	r := newRegistry()
	count := func() (n int) {
		for slot := range slotCount {
			n += len(r.users(slot))
		}
		return n
	}
	s := r.add("u", "1")
	if n := count(); n != 0 {
		t.Errorf("%d users are renewed while the first enters", n)
	}
	r.enterFailed("u", "1")
	r.add("v", "2")
	r.setSince("v", []localSocket{{socket: "2"}}, []int64{17})
	r.setSince("u", []localSocket{s}, []int64{18})
	if got := r.add("v", "2"); got.since != 17 || got.entering || count() != 2 {
		t.Errorf("known is %+v, %d users are renewed", got, count())
	}
	r.drop("u", "1")
	r.setSince("u", []localSocket{s}, []int64{18})
	if n := count(); n != 1 {
		t.Errorf("%d users are renewed after one has left", n)
	}
}

// TestPresenceRenewalReturnsSince checks that a renewal learns the start of a socket whose Enter had no answer. The
// reply contains no starts when they are known.
func TestPresenceRenewalReturnsSince(t *testing.T) {
	p := newPatient(redistest.Dial(t, storetest.RedisDatabase(t)), Options{Lease: time.Hour})
	enter(t, p, "u", "1")
	entered := p.local.add("u", "1")
	p.local.drop("u", "1")
	p.local.add("u", "1")
	p.local.enterFailed("u", "1")
	unheard := []localUser{{"u", []localSocket{p.local.add("u", "1")}}}
	noError(t, p.renewSome(t.Context(), unheard))
	learned := p.local.add("u", "1")
	if entered.since == 0 || learned != entered {
		t.Errorf("the renewal stored %+v for a socket that entered as %+v", learned, entered)
	}
	known := []localUser{{"u", []localSocket{learned}}}
	again := p.enterCall(known, 0)
	nodes.Send(t.Context(), p.client, []*nodes.Call{again})
	if n, err := readEntered(again.Cmd, known); err != nil || n[0].sinces != nil {
		t.Errorf("a renewal of a known socket returned %+v, %v", n, err)
	}
}

// TestPresenceRenewsInBatches checks that each reply of a batched renewal is assigned to its socket.
func TestPresenceRenewsInBatches(t *testing.T) {
	url := storetest.RedisDatabase(t)
	p := newPatient(redistest.Dial(t, url), Options{Lease: time.Hour})
	other := newPatient(redistest.Dial(t, url), Options{Lease: time.Hour})
	var users []localUser
	for i := range 2*callLen + 7 {
		u := localUser{user: fmt.Sprint("user-", i)}
		for n := range 1 + i%3 {
			socket := fmt.Sprint("socket-", n)
			if i%2 == 0 {
				enter(t, other, u.user, socket) // exists in Redis already
			}
			u.sockets = append(u.sockets, p.local.add(u.user, socket))
			p.local.enterFailed(u.user, socket)
		}
		users = append(users, u)
	}
	const odd = 3
	noError(t, p.client.Set(t.Context(), userKey(users[odd].user), "no hash", 0).Err())
	if err := p.renewSome(t.Context(), users); err == nil {
		t.Error("no error for a key that holds something else")
	}
	for i, u := range users {
		if i == odd {
			continue
		}
		for _, s := range u.sockets {
			ours, theirs := p.local.add(u.user, s.socket), other.local.add(u.user, s.socket)
			if ours.since == 0 || i%2 == 0 && ours.since != theirs.since {
				t.Errorf("%s of %s: since %d by renewal, %d by Enter", s.socket, u.user, ours.since, theirs.since)
			}
		}
		if online, err := other.Online(t.Context(), []string{u.user}); err != nil || !online[0] {
			t.Errorf("%s is online: %v, %v", u.user, online, err)
		}
	}
}

// TestPresenceRunEnds checks that Run ends with its context and leaves no goroutine.
func TestPresenceRunEnds(t *testing.T) {
	client := redistest.Dial(t, storetest.RedisDatabase(t))
	noError(t, client.Ping(t.Context()).Err())
	before := goleak.IgnoreCurrent()
	for i := range 50 {
		p := newPatient(client, Options{Lease: 30 * time.Millisecond})
		for user := range 20 {
			enter(t, p, fmt.Sprint(i, "-", user), "s")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if n := client.DBSize(t.Context()).Val(); n != 0 {
			t.Fatalf("%d keys are left", n)
		}
	}
	goleak.VerifyNone(t, before)
}

// BenchmarkPresenceRenew measures the renewal of one socket, which happens three times a lease.
func BenchmarkPresenceRenew(b *testing.B) {
	p := newPatient(redistest.Dial(b, storetest.SharedRedis(b).URL()), Options{})
	const sockets = 10_000
	for i := range sockets {
		user, socket := fmt.Sprint("user-", i), fmt.Sprint("0190c5a0-0000-7000-8000-", i)
		p.local.add(user, socket)
		p.local.enterFailed(user, socket)
	}
	b.ResetTimer()
	for n := 0; n < b.N; {
		for slot := range slotCount {
			users := p.local.users(slot)
			n += len(users)
			noError(b, p.renew(b.Context(), users))
		}
	}
}

// FuzzPresenceReply checks that a malformed reply about sockets is an error.
func FuzzPresenceReply(f *testing.F) {
	f.Add([]byte{6, 4, 7, 6, 7, 8}, "1")
	f.Add([]byte{6, 5, 7, 4, 0}, "c")
	f.Add([]byte{6, 7, 6, 7, 8, 8}, "")
	f.Fuzz(func(t *testing.T, script []byte, text string) {
		reply, _ := redistest.ReplyFromBytes(script, text)
		n, err := readUser(reply)
		if err != nil && (n.first || len(n.out) > 0 || len(n.sinces) > 0) || err == nil && len(reply) != 3 {
			t.Errorf("%v reads %+v, %v", reply, n, err)
		}
		all, err := readEntered(redistest.Replied(reply), make([]localUser, 2))
		if len(all) != 2 || err == nil && len(reply) != 2 {
			t.Errorf("%v reads %+v, %v", reply, all, err)
		}
		_, _ = readEntered(redistest.Replied(text), make([]localUser, 1))
	})
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
