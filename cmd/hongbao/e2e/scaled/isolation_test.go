package scaled

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// isolation is three servers with a crowd in one room, and a victim whose rows are locked or cannot be written.
type isolation struct {
	*testing.T
	cluster *e2e.Cluster
	sql     *pgx.Conn // of another program
	owner   wire.GuestReply
	victim  wire.GuestReply
	crowd   []wire.GuestReply
	own     string // room with the victim's own traffic
	common  string // room with everybody's
	round   int
	usual   time.Duration // the longest that others waited while nothing was locked, poisoned or frozen
}

const crowdSize = 100

// TestScaledIsolation locks or poisons one row, or freezes one server. Meanwhile 99 of 100 grabs and texts of others succeed,
// each within a second. The victim's request succeeds once its row is free.
func TestScaledIsolation(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	i := newIsolation(t)
	i.usual = i.othersGoOn(t, i.packet(i.common, crowdSize), 0, 1, 2)
	t.Run("wallet locked", func(t *testing.T) {
		i.locked(t, "select 1 from wallets where user_id = $1 for update", i.victim.User.ID, i.victimGrabs(i.common))
	})
	t.Run("user locked", func(t *testing.T) {
		i.locked(t, "select 1 from users where id = $1 for update", i.owner.User.ID, i.ownerSendsPacket)
	})
	t.Run("member locked", func(t *testing.T) {
		i.locked(t, "select 1 from members where user_id = $1 for update", i.victim.User.ID, i.victimSpeaks(i.common))
	})
	t.Run("room locked", func(t *testing.T) {
		i.locked(t, "select 1 from rooms where id = $1 for update", i.own, i.victimSpeaks(i.own))
	})
	t.Run("packet locked", func(t *testing.T) {
		packet := i.packet(i.own, 1)
		i.locked(t, "select 1 from packets where id = $1 for update", packet, func() (int, []byte) {
			return i.command(0, i.victim, "grab", wire.GrabRequest{Packet: packet})
		})
	})
	t.Run("user poisoned", i.poisoned)
	t.Run("server frozen", i.frozen)
	i.cluster.Front().MustBalance()
}

func newIsolation(t *testing.T) *isolation {
	database := storetest.Database(t)
	i := &isolation{T: t, cluster: e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, e2e.Three()...)}
	var err error
	i.sql, err = pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	t.Cleanup(func() { _ = i.sql.Close(context.Background()) })
	server := i.cluster.Servers[0]
	i.owner, i.victim = server.Guest("owner"), server.Guest("victim")
	for n := range crowdSize {
		i.crowd = append(i.crowd, server.Guest(fmt.Sprint("guest ", n)))
	}
	i.own, i.common = i.room("own"), i.room("common")
	for _, room := range []string{i.own, i.common} {
		for _, guest := range append(i.crowd, i.victim) {
			i.mustSucceed(i.command(0, guest, "join", wire.JoinRequest{Room: room}))
		}
	}
	return i
}

// command sends a command over HTTP to one of the servers. Status 0 means that no answer came.
func (i *isolation) command(server int, guest wire.GuestReply, method string, request any) (status int, answer []byte) {
	status, answer, err := i.cluster.Servers[server].Post(guest.Token, "commands/"+method, request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return status, answer
}

func (i *isolation) mustSucceed(status int, answer []byte) []byte {
	i.Helper()
	if status != http.StatusOK {
		i.Fatalf("a command is answered %d: %s, want 200", status, answer)
	}
	return answer
}

func (i *isolation) room(name string) string {
	var reply wire.CreateRoomReply
	e2e.NoError(i.T, json.Unmarshal(i.mustSucceed(i.command(0, i.owner, "create_room", wire.CreateRoomRequest{Key: name, Name: name, Kind: "public"})), &reply))
	return reply.Room.ID
}

func (i *isolation) packet(room string, count int) string {
	i.round++
	var reply wire.SendPacketReply
	request := wire.SendPacketRequest{Room: room, Key: fmt.Sprint("packet-", i.round), Mode: "equal", Total: int64(count), Count: &count}
	e2e.NoError(i.T, json.Unmarshal(i.mustSucceed(i.command(0, i.owner, "send_packet", request)), &reply))
	return reply.Packet.ID
}

// victimGrabs returns a request that the victim may repeat: a grab at a new packet.
func (i *isolation) victimGrabs(room string) func() (int, []byte) {
	packet := i.packet(room, 1)
	return func() (int, []byte) { return i.command(0, i.victim, "grab", wire.GrabRequest{Packet: packet}) }
}

// victimSpeaks returns a request that the victim may repeat: a text.
func (i *isolation) victimSpeaks(room string) func() (int, []byte) {
	i.round++
	request := wire.SendRequest{Room: room, Key: fmt.Sprint("text-", i.round), Text: "hello"}
	return func() (int, []byte) { return i.command(0, i.victim, "send", request) }
}

func (i *isolation) ownerSendsPacket() (int, []byte) {
	return i.command(0, i.owner, "send_packet", wire.SendPacketRequest{Room: i.common, Key: "from-a-locked-user", Total: 1, Count: new(1)})
}

// locked lets another program hold a row lock that the request needs. Meanwhile the requests of others must succeed.
func (i *isolation) locked(t *testing.T, statement, id string, request func() (int, []byte)) {
	packet := i.packet(i.common, crowdSize)
	tx, err := i.sql.Begin(t.Context())
	e2e.NoError(t, err)
	tag, err := tx.Exec(t.Context(), statement, id)
	e2e.NoError(t, err)
	if tag.RowsAffected() == 0 {
		t.Fatalf("no row to lock: %s, $1 = %s", statement, id)
	}
	unlock := sync.OnceFunc(func() { e2e.NoError(t, tx.Rollback(context.Background())) })
	defer unlock()

	succeeded := make(chan []byte, 1)
	go func() {
		for {
			if status, answer := request(); status == http.StatusOK {
				succeeded <- answer
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond) // now the request waits for the row
	i.othersGoOn(t, packet, 0, 1, 2)
	if len(succeeded) > 0 {
		t.Errorf("the request succeeded although its row is locked: %s", <-succeeded)
	}
	unlock()
	unlocked := time.Now()
	select {
	case <-succeeded:
		t.Logf("the request succeeded %v after its row was unlocked", time.Since(unlocked).Round(time.Millisecond))
	case <-time.After(10 * time.Second):
		t.Error("the request did not succeed within 10s after its row was unlocked")
	}
}

// othersGoOn has everybody in the crowd grab and send a text through the servers, and checks how many succeed within a second.
// A busy machine gets more time. It returns how long the slowest took.
func (i *isolation) othersGoOn(t *testing.T, packet string, servers ...int) (slowest time.Duration) {
	t.Helper()
	i.round++
	round, limit := i.round, time.Second+2*i.usual
	type count struct {
		failed, late int
		slowest      time.Duration
	}
	var (
		all          sync.WaitGroup
		mu           sync.Mutex
		grabs, texts count
		do           = func(c *count, guest wire.GuestReply, server int, method string, request any) {
			began := time.Now()
			status, answer := i.command(server, guest, method, request)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			c.slowest = max(c.slowest, took)
			if status != http.StatusOK {
				c.failed++
			} else if took > limit {
				c.late++
			}
			if status != http.StatusOK && status != http.StatusServiceUnavailable {
				t.Errorf("%s of another user: %d %s", method, status, answer)
			}
			if status != http.StatusOK || took > limit {
				t.Logf("%s of another user through server %d was answered after %v: %d %s", method, server, took.Round(time.Millisecond), status, answer)
			}
		}
	)
	for n, guest := range i.crowd {
		time.Sleep(5 * time.Millisecond)
		server := servers[n%len(servers)]
		all.Go(func() { do(&grabs, guest, server, "grab", wire.GrabRequest{Packet: packet}) })
		all.Go(func() {
			do(&texts, guest, server, "send", wire.SendRequest{Room: i.common, Key: fmt.Sprint("text-", round), Text: "hello"})
		})
	}
	all.Wait()
	t.Logf("the slowest of %d grabs of others took %v, the slowest text %v", crowdSize, grabs.slowest.Round(time.Millisecond), texts.slowest.Round(time.Millisecond))
	const most = crowdSize / 100
	if grabs.failed+grabs.late > most || texts.failed+texts.late > most {
		e2e.TooSlow(t, "of %d grabs and texts of others, %d grabs and %d texts failed or took more than %v, want at most %d",
			crowdSize, grabs.failed+grabs.late, texts.failed+texts.late, limit, most)
	}
	return max(grabs.slowest, texts.slowest)
}

// poisoned has a trigger refuse every write to the victim's wallet.
func (i *isolation) poisoned(t *testing.T) {
	packet, bad := i.packet(i.common, crowdSize), i.packet(i.own, 1)
	_, err := i.sql.Exec(t.Context(), fmt.Sprintf(`create function poison() returns trigger language plpgsql as
		$$ begin raise exception 'poisoned'; end $$;
		create trigger poison before insert or update on wallets for each row when (new.user_id = '%s') execute function poison()`, i.victim.User.ID))
	e2e.NoError(t, err)
	stop := make(chan struct{})
	var victim sync.WaitGroup
	victim.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				i.command(0, i.victim, "grab", wire.GrabRequest{Packet: bad})
			}
		}
	})
	i.othersGoOn(t, packet, 0, 1, 2)
	close(stop)
	victim.Wait()
	_, err = i.sql.Exec(t.Context(), "drop trigger poison on wallets")
	e2e.NoError(t, err)
	i.mustSucceed(i.victimSpeaks(i.own)())
}

// frozen stops a server in the midst of its work, four times.
func (i *isolation) frozen(t *testing.T) {
	for range 4 {
		packet := i.packet(i.common, 2*crowdSize)
		stop := make(chan struct{})
		var busy sync.WaitGroup
		for n := range 8 {
			busy.Go(func() {
				for k := 0; ; k++ {
					select {
					case <-stop:
						return
					default:
						i.command(2, i.victim, "send", wire.SendRequest{Room: i.common, Key: fmt.Sprint(packet, n, "-", k), Text: "hello"})
					}
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		thaw := e2e.Freeze(t, i.cluster.Servers[2])
		i.othersGoOn(t, packet, 0, 1)
		thaw()
		close(stop)
		busy.Wait()
	}
}
