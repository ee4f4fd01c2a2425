package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

const (
	rainSockets = 10_000
	rainWaves   = 5
	waveOpen    = 2500 * time.Millisecond // for which users can enter a wave
)

// TestRainReachesManySockets has 10,000 sockets in a room in which a rain falls. Each must see each wave, and none may be closed. It prints how
// long after the instant of its wave each socket has seen the push, by the clock of this machine.
func TestRainReachesManySockets(t *testing.T) {
	enginetest.Nightly(t, "load")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t), "HONGBAO_JWT_SECRET="+secret, "HONGBAO_MAX_SOCKETS_PER_ADDRESS=0")
	s := newStorm(t, server)
	var created wire.CreateRoomReply
	e2e.NoError(t, s.command("u-0", "create_room", wire.CreateRoomRequest{Key: "room", Name: "Room", Kind: "public"}, &created))
	s.rooms = slices.Repeat([]string{created.Room.ID}, stormRooms)
	credit := wire.AdjustRequest{User: "u-0", Amount: 1_000, Key: "credit"}
	e2e.NoError(t, s.post(auth.Claims{User: "boss", Scope: auth.DefaultAdminScope}, "admin/credit", credit, nil))

	forAll := func(from int, do func(user int) error) {
		var all errgroup.Group
		all.SetLimit(64)
		for i := from; i < rainSockets; i++ {
			all.Go(func() error { return do(i) })
		}
		e2e.NoError(t, all.Wait())
	}
	forAll(1, func(user int) error {
		return s.command(fmt.Sprint("u-", user), "join", wire.JoinRequest{Room: created.Room.ID}, nil)
	})
	watchers := make([]rainWatcher, rainSockets)
	forAll(0, func(user int) error { return watchers[user].dial(s, user) })
	var watching sync.WaitGroup
	for i := range watchers {
		watching.Go(watchers[i].watch)
	}
	waves, over := rainWaves, int64(3*rainWaves)
	e2e.NoError(t, s.command("u-0", "send_packet", wire.SendPacketRequest{Room: created.Room.ID, Key: "rain", Total: 100, Count: new(10), Waves: &waves, OverS: &over}, nil))
	watching.Wait()

	var late []time.Duration
	for i := range watchers {
		own, err := watchers[i].late()
		if late = append(late, own...); len(own) != rainWaves || err != nil {
			t.Errorf("socket %d has seen %d waves, %v", i, len(own), err)
		}
	}
	if slow := server.Metric("hongbao_slow_total"); slow != 0 {
		t.Errorf("the server has closed %v sockets because they read too slowly", slow)
	}
	slices.Sort(late)
	if len(late) > 0 {
		at := func(part int) time.Duration { return late[(len(late)-1)*part/1000].Round(time.Millisecond) }
		t.Logf("%d waves seen by %d sockets: half after %v, 99 %% after %v, 99.9 %% after %v, the last after %v", rainWaves, rainSockets, at(500), at(990), at(999), at(1000))
	}
}

// rainWatcher is a socket that sees a rain.
type rainWatcher struct {
	socket e2e.RawSocket
	seen   []seenWave
	err    error // why the socket has ended before the rain
}

// seenWave is a push as it came. It is parsed later, because clients share the processors of this machine with the server.
type seenWave struct {
	frame []byte
	at    time.Time
}

func (w *rainWatcher) dial(s *storm, user int) error {
	c := s.newClient(user, false)
	conn, err := net.Dial("tcp", c.host)
	if err != nil {
		return err
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	w.socket = e2e.RawSocket{Conn: conn, In: bufio.NewReaderSize(conn, 1<<10)}
	return c.greet(&w.socket)
}

// watch reads the socket until the rain has ended.
func (w *rainWatcher) watch() {
	for {
		_, frame, err := w.socket.ReadFrame()
		now := time.Now()
		if err != nil {
			w.err = err
			return
		}
		if bytes.Contains(frame, []byte(`"packet_wave":`)) {
			w.seen = append(w.seen, seenWave{frame, now})
		}
		if bytes.Contains(frame, []byte(`"kind":"packet_done"`)) {
			return
		}
		if bytes.HasPrefix(frame, []byte("{}")) || bytes.Contains(frame, []byte("\n{}")) { // a ping
			w.socket.Send(e2e.MaskedFrame(0x81, "{}"))
		}
	}
}

// late returns how long after its instant each wave was seen.
func (w *rainWatcher) late() (late []time.Duration, err error) {
	for _, seen := range w.seen {
		for line := range bytes.Lines(seen.frame) {
			var reply struct {
				Push struct{ Message struct{ Data wire.Message } }
			}
			if err := json.Unmarshal(line, &reply); err != nil {
				return nil, fmt.Errorf("push %s: %w", line, err)
			}
			if wave := reply.Push.Message.Data.PacketWave; wave != nil && wave.Result == nil {
				late = append(late, seen.at.Sub(time.UnixMilli(wave.EndsAt).Add(-waveOpen)))
			}
		}
	}
	return late, w.err
}
