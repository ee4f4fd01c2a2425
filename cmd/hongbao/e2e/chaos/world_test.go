package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/web/wire"
)

const (
	instances = 3
	credit    = 100_000 // of each user
	roomSize  = 40      // members of a room
)

// world is three instances over a Redis and a Postgres with two standbys, a proxy on every link, and a crowd of users. With a Redis
// Cluster or sentinels, the links to Redis have no proxy.
type world struct {
	t      *testing.T
	ctx    context.Context // done when the world ends
	dir    string
	binary string

	layout      layout
	redis       *loopback.Redis // with the layout oneRedis, else nil
	cluster     *loopback.RedisCluster
	sentinel    *loopback.Sentinel
	redisDir    string
	redisClock  *loopback.Clock // nil: that of the machine, which cannot be off
	movingRedis sync.Mutex      // held by a fault while another server of Redis takes over, or Redis must be away
	postgres    *postgres
	instances   [instances]*instance
	mayDie      bool         // an instance may die in the present fault
	front       atomic.Int64 // counts dials

	gate        *gate
	record      *record
	rooms       []string
	users       []*user
	acting      sync.WaitGroup
	before      usage // of the instances, before the first fault
	quarantined int   // number of claims in quarantine after the last fault
}

// instance is one server with the proxies on its links.
type instance struct {
	addr                           string
	clock                          string // file that shifts the clock
	toRedis, toPostgres, toClients *loopback.Proxy

	mu     sync.Mutex
	server *e2e.Server // guarded by mu
	dead   atomic.Bool // no client dials it
}

// newWorld starts everything, and returns when all users are in their rooms. The world ends with the test, or when ends does.
func newWorld(ends context.Context, t *testing.T, layout layout, crowd int) *world {
	t.Helper()
	enginetest.Need(t, "Redis and Postgres")
	ctx, cancel := context.WithCancel(context.WithoutCancel(ends)) // what was begun to start is started
	w := &world{t: t, ctx: ctx, layout: layout, dir: t.TempDir(), binary: e2e.Build(t, "crashpoints"), gate: newGate(), record: newRecord()}
	w.startEngines()
	for n := range w.instances {
		w.startInstance(n)
	}
	w.makeUsers(crowd)
	w.gate.close()
	var err error
	w.before, err = w.usage()
	e2e.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		w.gate.open()
		for _, u := range w.users {
			u.close()
		}
		w.acting.Wait()
	})
	for _, u := range w.users {
		w.acting.Go(func() { u.act(ctx) })
	}
	context.AfterFunc(ends, cancel)
	return w
}

func (w *world) startEngines() {
	w.t.Helper()
	e2e.NoError(w.t, w.startRedis())
	var err error
	w.postgres, err = startPostgres(w.ctx, filepath.Join(w.dir, "sql"), w.newClock("Postgres"))
	w.t.Cleanup(w.postgres.stop)
	e2e.NoError(w.t, err)
}

// newClock returns a clock for servers of this name, or nil without libfaketime.
func (w *world) newClock(server string) *loopback.Clock {
	w.t.Helper()
	dir := filepath.Join(w.dir, "clock of "+server)
	e2e.NoError(w.t, os.Mkdir(dir, 0o755))
	c, err := loopback.NewClock(dir)
	if err != nil {
		return nil // needsFaketime says so
	}
	return c
}

func (w *world) startInstance(n int) {
	w.t.Helper()
	i := &instance{addr: e2e.FreeAddress(w.t), clock: filepath.Join(w.dir, fmt.Sprint("clock", n))}
	i.toRedis, i.toPostgres, i.toClients = w.proxy(w.redisServers()[0].Addr()), w.proxy(w.postgres.addr()), w.proxy(i.addr)
	var err error
	i.server, err = e2e.TryStart(w.t, w.binary, "", i.addr,
		"HONGBAO_REDIS_URL="+w.redisURL(i),
		"HONGBAO_DATABASE_URL=postgres://postgres@"+i.toPostgres.Addr()+"/"+w.postgres.database+"?sslmode=disable",
		"HONGBAO_GUESTS=local", "HONGBAO_GUEST_KEY="+e2e.GuestKey,
		fmt.Sprint("HONGBAO_GUEST_CREDIT=", credit), "HONGBAO_CLOCK_FILE="+i.clock)
	e2e.NoError(w.t, err)
	w.instances[n] = i
}

func (w *world) proxy(target string) *loopback.Proxy {
	w.t.Helper()
	p, err := loopback.StartProxy(target)
	e2e.NoError(w.t, err)
	w.t.Cleanup(p.Close)
	return p
}

// current returns the present server of the instance.
func (i *instance) current() *e2e.Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.server
}

// restart starts the instance again after its process has ended. It tries for a minute, as a supervisor would: an instance does
// not start without Postgres.
func (i *instance) restart(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); ; {
		s, err := i.current().TryRestart()
		if err == nil {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.server = s
			i.dead.Store(false)
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		_ = pause(ctx, 200*time.Millisecond) // the next try returns the error
	}
}

// dial connects a client to the next instance that is not known to be dead, through that instance's proxy.
func (w *world) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	first := w.front.Add(1)
	for n := range int64(instances) {
		if i := w.instances[(first+n)%instances]; !i.dead.Load() {
			return new(net.Dialer).DialContext(ctx, network, i.toClients.Addr())
		}
	}
	return nil, errors.New("no instance is alive")
}

// makeUsers signs the users in and lets them enter their rooms. Every other one uses package client, the others centrifuge-go.
func (w *world) makeUsers(crowd int) {
	w.t.Helper()
	for n := range crowd {
		w.users = append(w.users, w.newUser(n, crowd))
	}
	var lobby string
	rooms := max(2, 2*crowd/roomSize)
	w.gate.open()
	for n := range rooms + 1 {
		owner := w.users[n%crowd]
		var reply wire.CreateRoomReply
		key := fmt.Sprint("room-", n)
		e2e.NoError(w.t, owner.call(w.ctx, "create_room", wire.CreateRoomRequest{Key: key, Name: key, Kind: "public"}, &reply))
		lobby = reply.Room.ID
		w.rooms = append(w.rooms, lobby)
	}
	w.rooms = w.rooms[:rooms] // the last one is the lobby
	failed := make([]error, crowd)
	var all sync.WaitGroup
	slots := make(chan struct{}, 10)
	ownerOfLobby := w.users[rooms%crowd] // an owner does not leave
	for n, u := range w.users {
		u.homes, u.lobby = [2]string{w.rooms[n%rooms], w.rooms[(n+1+n/rooms%(rooms-1))%rooms]}, lobby
		if u == ownerOfLobby {
			u.lobby = ""
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, room := range u.homes {
				failed[n] = errors.Join(failed[n], u.call(w.ctx, "join", wire.JoinRequest{Room: room}, new(wire.JoinReply)))
			}
			e2e.Eventually(w.t, 20*time.Second, u.name+" is in both rooms", func() bool { return u.lastOf(u.homes[0]) >= 0 && u.lastOf(u.homes[1]) >= 0 })
		})
	}
	all.Wait()
	e2e.NoError(w.t, errors.Join(failed...))
}

func (w *world) newUser(n, crowd int) *user {
	w.t.Helper()
	u := &user{name: fmt.Sprint("user-", n), gate: w.gate, record: w.record}
	u.period = time.Duration(crowd) * time.Second / actions
	_, answer, err := w.instances[n%instances].current().Post("", "guests", wire.GuestRequest{Name: u.name})
	var guest wire.GuestReply
	if err == nil {
		err = json.Unmarshal(answer, &guest)
	}
	e2e.NoError(w.t, err)
	u.id, u.token = guest.User.ID, guest.Token
	u.journal = newJournal(func(p packet) { u.hear(w.ctx, p) })
	open := openOwn
	if n%2 == 1 {
		open = openPlain
	}
	u.session, err = open("ws://127.0.0.1/v1/socket", guest.Token, n%4 >= 2, w.dial, u.journal)
	e2e.NoError(w.t, err)
	return u
}

// awaitReady waits until every instance is ready, and returns those that are not within the limit.
func (w *world) awaitReady(limit time.Duration) (wrong []string) {
	deadline := time.Now().Add(limit)
	for n, i := range w.instances {
		for {
			status, page, err := i.current().TryOpsPage("readyz")
			if status == http.StatusOK && page == "ready\n" {
				break
			}
			if time.Now().After(deadline) {
				wrong = append(wrong, fmt.Sprintf("instance %d is not ready %v after the fault: %d %s %v", n, limit, status, page, err))
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return wrong
}

// redisClient returns a client of a server that is not behind a proxy. The caller closes it.
func redisClient(server *loopback.Redis) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
}

// keepLogs copies the logs of all servers into a folder, with the violations.
func (w *world) keepLogs(dir string, f *fault) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	logs := map[string]string{"violations.txt": f.report(len(f.wrong))}
	for n, i := range w.instances {
		logs[fmt.Sprintf("instance-%d.log", n)] = i.current().Log()
	}
	for _, pattern := range []string{"redis/redis-server.log", "redis/*/redis-*.log", "sql/*/postgres.log"} {
		names, _ := filepath.Glob(filepath.Join(w.dir, pattern))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			logs[filepath.Base(filepath.Dir(name))+".log"] = string(text)
		}
	}
	for name, text := range logs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// instanceAt returns an instance that dice choose.
func (w *world) instanceAt(dice *rand.Rand) *instance { return w.instances[dice.IntN(instances)] }
