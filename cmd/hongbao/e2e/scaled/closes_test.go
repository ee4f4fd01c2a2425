package scaled

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

const (
	manyClosing = 288              // packets of one room with the same deadline
	grabsAtEach = 10               // grabs at each of these packets
	closingTTL  = 30 * time.Second // from the sending to the deadline
	sendsAtOnce = 16
	grabsBegin  = 200 * time.Millisecond // before the deadline
	closeInTime = 5 * time.Second        // limit from the deadline until a packet is closed
	machineLoad = 20                     // programs that want to compute at the same time
)

// TestManyPacketsEndTogether lets 288 packets of one room expire at the same moment, with three servers, while users grab during the last
// 200 ms and the machine has a load of about 20. Each packet must be closed within 5 s, and the books must balance.
func TestManyPacketsEndTogether(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	redis, database := storetest.Redis(t), storetest.Database(t)
	each := e2e.Three()
	each[0] = []string{"HONGBAO_GUEST_CREDIT=1000000"} // the sender's server
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), redis, database, each...)
	sender := e2e.Connect(t, cluster.Servers[0], cluster.Servers[0].Guest("sender"), false)
	room := e2e.Call[wire.CreateRoomReply](sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	users := make([]*e2e.Client, 40)
	for n := range users {
		server := cluster.Servers[n%len(cluster.Servers)]
		users[n] = e2e.Connect(t, server, server.Guest(fmt.Sprint("user ", n)), n%2 == 1)
		e2e.Call[wire.JoinReply](users[n], "join", wire.JoinRequest{Room: room})
	}
	packets, deadline := sendTogether(t, store.Config{RedisURL: redis.URL(), DatabaseURL: database}, sender.User, room)
	load(t, machineLoad)
	if left := time.Until(deadline); left < time.Second {
		e2e.TooSlow(t, "%d packets are sent, and %v is left until their deadline", len(packets), left)
	}

	var won atomic.Int64
	var grabs sync.WaitGroup
	time.Sleep(time.Until(deadline.Add(-grabsBegin)))
	for n, packet := range packets {
		for k := range grabsAtEach {
			grabs.Go(func() {
				var reply wire.GrabReply
				result, err := e2e.RPC(t.Context(), users[(n+k)%len(users)].Client, "grab", []byte(e2e.JSON(wire.GrabRequest{Packet: packet})))
				if err == nil && json.Unmarshal(result.Data, &reply) == nil && reply.Outcome == "won" {
					won.Add(1)
				}
			})
		}
	}
	slowest, late := awaitClosed(t, database)
	grabs.Wait()
	claims := countRows(t, database, "select count(*) from claims")
	t.Logf("the last of %d packets was closed %v after the deadline; %d grabs got a share, %d of them were told at once", len(packets), slowest, claims, won.Load())
	cluster.Front().MustBalance()
	if late > 0 {
		e2e.TooSlow(t, "%d packets were closed later than %v after their deadline, the last one after %v", late, closeInTime, slowest)
	}
	if claims == 0 {
		e2e.TooSlow(t, "no grab came before the deadline")
	}
}

// sendTogether sends packets that all have the same deadline, by a service whose clock stands still.
func sendTogether(t *testing.T, config store.Config, sender wire.User, room string) (packets []string, deadline time.Time) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	engines, err := store.Open(t.Context(), config, log)
	e2e.NoError(t, err)
	defer func() { e2e.NoError(t, engines.Close()) }()
	now := time.Now()
	rooms := chat.New(engines.Chat, chat.Discard{}, chat.Options{Log: log})
	service := redpacket.New(engines.Ledger, engines.Pool, rooms, chat.Discard{}, redpacket.Options{Now: func() time.Time { return now }, Log: log})
	deadline = now.Add(closingTTL)
	packets = make([]string, manyClosing)
	failed := make([]error, manyClosing)
	send := func(n int) {
		request := redpacket.SendRequest{Room: room, Key: fmt.Sprint("packet-", n), Mode: redpacket.Equal, Total: 1000, Count: 100, TTL: closingTTL}
		sent, err := service.Send(t.Context(), chat.User{ID: sender.ID, Name: sender.Name}, request)
		for errors.Is(err, chat.ErrUnavailable) && time.Now().Before(deadline) { // the machine is busy
			sent, err = service.Send(t.Context(), chat.User{ID: sender.ID, Name: sender.Name}, request)
		}
		packets[n], failed[n] = sent.Packet.ID, err
	}
	var all sync.WaitGroup
	for worker := range sendsAtOnce {
		all.Go(func() {
			for n := worker; n < manyClosing; n += sendsAtOnce {
				send(n)
			}
		})
	}
	all.Wait()
	e2e.NoError(t, errors.Join(failed...))
	return packets, deadline
}

// load starts programs that compute until the test ends, as many as the machine lacks for this load. They have the same priority as the
// servers.
func load(t *testing.T, want int) {
	t.Helper()
	var present float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil { // only Linux has it
		_, err = fmt.Sscan(string(text), &present)
		e2e.NoError(t, err)
	}
	t.Logf("the load is %.1f before the test adds to it", present)
	for range max(0, want-int(present)) {
		busy := exec.Command("sh", "-c", "while kill -0 $PPID; do :; done") // ends with this process, too
		e2e.NoError(t, busy.Start())
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		})
	}
}

// awaitClosed waits until no packet is open, for a minute after the last deadline. It returns how long after its deadline the last packet was
// closed, and how many were closed too late.
func awaitClosed(t *testing.T, database string) (slowest time.Duration, late int64) {
	t.Helper()
	e2e.Eventually(t, time.Minute, "no packet is open", func() bool {
		return countRows(t, database, "select count(*) from packets where status = 'open'") == 0
	})
	most := countRows(t, database, "select max(closed_at - expires_at) from packets")
	late = countRows(t, database, fmt.Sprint("select count(*) from packets where closed_at - expires_at > ", closeInTime.Milliseconds()))
	return time.Duration(most) * time.Millisecond, late
}

// countRows returns the number that a query finds.
func countRows(t *testing.T, database, query string) (number int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	e2e.NoError(t, conn.QueryRow(t.Context(), query).Scan(&number))
	return number
}
