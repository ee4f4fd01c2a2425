package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
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
	stormSockets = 5_000
	stormRooms   = 50
	stormMissed  = 20 // entries of each room while all clients are away

	stormLimit = time.Minute // far more than an idle machine needs
)

// TestReconnectStorm kills the server under 5,000 sockets in 50 rooms and starts it again. All clients reconnect at once: each
// recovers all that it missed, and the server reads the missed entries of each room from its database only once.
func TestReconnectStorm(t *testing.T) {
	enginetest.Nightly(t, "load")
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t), "HONGBAO_JWT_SECRET="+secret)
	s := newStorm(t, server)
	s.fill()
	server.Kill()

	server = server.Restart()
	s.server = server
	var sending errgroup.Group
	for _, room := range s.rooms {
		sending.Go(func() error {
			for i := range stormMissed {
				text := fmt.Sprint("missed ", i)
				if err := s.command("u-0", "send", wire.SendRequest{Room: room, Key: fmt.Sprint("missed-", i, "-", room), Text: text}, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	e2e.NoError(t, sending.Wait())
	clients := s.newClients(true)
	readsBefore, serverBefore, ownBefore := server.Metric("hongbao_resume_reads_total"), serverCPU(t, server), ownCPU(t)
	took := s.reconnect(clients)
	serverUsed, ownUsed := serverCPU(t, server)-serverBefore, ownCPU(t)-ownBefore
	for _, c := range clients {
		s.mustHaveRecovered(c)
	}
	t.Logf("%d sockets are back after %v: half of them after %v, 99 %% after %v", len(took), took[len(took)-1], took[len(took)/2], took[len(took)*99/100])
	t.Logf("the server used %v of CPU, the clients %v; %.0f handshakes were refused to be retried later", serverUsed, ownUsed, server.Metric("hongbao_connects_refused_total"))
	if reads := server.Metric("hongbao_resume_reads_total") - readsBefore; reads < 1 || reads > stormRooms {
		t.Errorf("the missed entries of %d rooms were read %v times, want 1 to %d", stormRooms, reads, stormRooms)
	}
}

// storm is a server with users that are in one room each.
type storm struct {
	t      *testing.T
	server *e2e.Server
	client http.Client
	rooms  []string
	epoch  string
	last   int64 // seq of every room before the kill
}

func newStorm(t *testing.T, server *e2e.Server) *storm {
	return &storm{t: t, server: server, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}}
}

func (s *storm) roomOf(user int) string { return s.rooms[user%stormRooms] }

// fill makes the rooms, lets each user join, and connects everyone once.
func (s *storm) fill() {
	s.t.Helper()
	for i := range stormRooms {
		var created wire.CreateRoomReply
		e2e.NoError(s.t, s.command("u-0", "create_room", wire.CreateRoomRequest{Key: fmt.Sprint("room-", i), Name: fmt.Sprint("Room ", i), Kind: "public"}, &created))
		s.rooms = append(s.rooms, created.Room.ID)
		e2e.NoError(s.t, s.command("u-0", "send", wire.SendRequest{Room: created.Room.ID, Key: fmt.Sprint("first-", i), Text: "first"}, nil))
	}
	var joining errgroup.Group
	joining.SetLimit(64)
	for i := 1; i < stormSockets; i++ {
		joining.Go(func() error {
			return s.command(fmt.Sprint("u-", i), "join", wire.JoinRequest{Room: s.roomOf(i)}, nil)
		})
	}
	e2e.NoError(s.t, joining.Wait())
	first := s.newClients(false)
	var connecting errgroup.Group
	connecting.SetLimit(64)
	for _, c := range first {
		connecting.Go(func() error { return s.dial(c) })
	}
	e2e.NoError(s.t, connecting.Wait())
	sub := s.subscriptionOf(first[0])
	s.epoch, s.last = sub.Epoch, sub.Offset
}

// newClients prepares the bytes of all clients.
func (s *storm) newClients(recovers bool) []*stormClient {
	all := make([]*stormClient, stormSockets)
	for i := range all {
		all[i] = s.newClient(1+i%(stormSockets-1), recovers)
	}
	return all
}

// reconnect lets all clients connect at the same moment, and returns how long each took, in ascending order.
func (s *storm) reconnect(clients []*stormClient) []time.Duration {
	s.t.Helper()
	var connecting errgroup.Group
	var mu sync.Mutex
	var took []time.Duration // appended when a client is connected, so it is sorted
	began := time.Now()
	for _, c := range clients {
		connecting.Go(func() error {
			err := s.dial(c)
			for attempt := 0; err != nil && time.Since(began) < stormLimit; attempt++ {
				time.Sleep(sdkBackoff(attempt))
				err = s.dial(c)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began).Round(time.Millisecond))
			return err
		})
	}
	e2e.NoError(s.t, connecting.Wait())
	return took
}

// sdkBackoff is how long SDKs wait before they dial again.
func sdkBackoff(attempt int) time.Duration {
	const least, most = 200 * time.Millisecond, 20 * time.Second
	return least + rand.N(min(least<<min(attempt, 10), most))
}

// mustHaveRecovered checks that the connect reply contains all entries that the client missed, in order.
func (s *storm) mustHaveRecovered(c *stormClient) {
	s.t.Helper()
	sub := s.subscriptionOf(c)
	if !sub.Recovered || len(sub.Publications) != stormMissed {
		s.t.Fatalf("user %d: recovered %t with %d entries, want true with %d", c.user, sub.Recovered, len(sub.Publications), stormMissed)
	}
	for i, p := range sub.Publications {
		if want := s.last + 1 + int64(i); p.Offset != want || !strings.Contains(string(p.Data), fmt.Sprintf("missed %d\"", i)) {
			s.t.Fatalf("user %d: recovered entry has seq %d and data %s, want seq %d and text \"missed %d\"", c.user, p.Offset, p.Data, want, i)
		}
	}
}

// command sends a command over HTTP.
func (s *storm) command(user, method string, request, reply any) error {
	return s.post(auth.Claims{User: user}, "commands/"+method, request, reply)
}

// post sends a request over HTTP.
func (s *storm) post(of auth.Claims, path string, request, reply any) error {
	token, err := auth.Sign([]byte(secret), of, time.Hour)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, s.server.URL.JoinPath("/v1", path).String(), bytes.NewReader([]byte(e2e.JSON(request))))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s, %w", path, response.StatusCode, answer, err)
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(answer, reply)
}
