package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/web"
	"hongbao/web/wire"
)

const (
	stormSockets = 5_000
	stormRooms   = 50
	stormMissed  = 20 // entries of each room, while everybody is away

	stormPatience = time.Minute // which nobody needs on an idle machine
)

// TestReconnectStorm kills the server under 5,000 sockets in 50 rooms, starts it again, and lets all of them come back at
// once: everybody is given what he has missed, and the entries of no room are read twice.
func TestReconnectStorm(t *testing.T) {
	binary, dir, addr := build(t, ""), t.TempDir(), freeAddress(t)
	n := start(t, binary, dir, addr, "HONGBAO_JWT_SECRET="+idleSecret)
	s := newStorm(t, n)
	s.fill()
	n.kill()

	n = start(t, binary, dir, addr, "HONGBAO_JWT_SECRET="+idleSecret)
	s.node = n
	var sending errgroup.Group
	for _, room := range s.rooms {
		sending.Go(func() error {
			for i := range stormMissed {
				text := fmt.Sprint("missed ", i)
				if err := s.call("u-0", "send", wire.SendRequest{Room: room, Key: fmt.Sprint("missed-", i, "-", room), Text: text}, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := sending.Wait(); err != nil {
		t.Fatal(err)
	}
	crowd := s.crowd(true)
	before, servers, ours := n.metric("hongbao_resume_reads_total"), n.cpu(), ownCPU(t)
	took := s.comeBack(crowd)
	servers, ours = n.cpu()-servers, ownCPU(t)-ours
	for _, c := range crowd {
		s.check(c)
	}
	t.Logf("%d sockets are back after %v: half of them after %v, 99 %% after %v", len(took), took[len(took)-1], took[len(took)/2], took[len(took)*99/100])
	t.Logf("the server worked for %v, the clients for %v; %.0f were sent away before the upgrade", servers, ours, n.metric("hongbao_connects_refused_total"))
	if reads := n.metric("hongbao_resume_reads_total") - before; reads < 1 || reads > stormRooms {
		t.Errorf("the entries of %d rooms were read %v times", stormRooms, reads)
	}
}

// storm is people with a room each, all of whom are in the hands of one server.
type storm struct {
	t      *testing.T
	node   *node
	client http.Client
	rooms  []string
	epoch  string
	last   int64 // seq of every room before the server dies
}

func newStorm(t *testing.T, n *node) *storm {
	return &storm{t: t, node: n, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}}
}

// room of a person.
func (s *storm) room(person int) string { return s.rooms[person%stormRooms] }

// fill makes the rooms, has everybody join his, and connects everybody once.
func (s *storm) fill() {
	s.t.Helper()
	for i := range stormRooms {
		var made wire.CreateRoomReply
		if err := s.call("u-0", "create_room", wire.CreateRoomRequest{Key: fmt.Sprint("room-", i), Name: fmt.Sprint("Room ", i)}, &made); err != nil {
			s.t.Fatal(err)
		}
		s.rooms = append(s.rooms, made.Room.ID)
		if err := s.call("u-0", "send", wire.SendRequest{Room: made.Room.ID, Key: fmt.Sprint("first-", i), Text: "first"}, nil); err != nil {
			s.t.Fatal(err)
		}
	}
	var joining errgroup.Group
	joining.SetLimit(64)
	for i := 1; i < stormSockets; i++ {
		joining.Go(func() error {
			return s.call(fmt.Sprint("u-", i), "join", wire.JoinRequest{Room: s.room(i)}, nil)
		})
	}
	if err := joining.Wait(); err != nil {
		s.t.Fatal(err)
	}
	first := s.crowd(false)
	var coming errgroup.Group
	coming.SetLimit(64)
	for _, c := range first {
		coming.Go(func() error { return s.come(c) })
	}
	if err := coming.Wait(); err != nil {
		s.t.Fatal(err)
	}
	sub := s.told(first[0])
	s.epoch, s.last = sub.Epoch, sub.Offset
}

// crowd is everybody, with what each is going to say.
func (s *storm) crowd(missed bool) []*comer {
	all := make([]*comer, stormSockets)
	for i := range all {
		all[i] = s.comer(1+i%(stormSockets-1), missed)
	}
	return all
}

// comeBack has all connect at the same moment, and tells how long each took, sorted.
func (s *storm) comeBack(crowd []*comer) []time.Duration {
	s.t.Helper()
	var coming errgroup.Group
	var mu sync.Mutex
	var took []time.Duration // in the order in which they came back
	began := time.Now()
	for _, c := range crowd {
		coming.Go(func() error {
			err := s.come(c)
			for attempt := 0; err != nil && time.Since(began) < stormPatience; attempt++ {
				<-time.After(stormBackoff(attempt))
				err = s.come(c)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began).Round(time.Millisecond))
			return err
		})
	}
	if err := coming.Wait(); err != nil {
		s.t.Fatal(err)
	}
	return took
}

// stormBackoff is how long SDKs wait before they try again.
func stormBackoff(attempt int) time.Duration {
	const least, most = 200 * time.Millisecond, 20 * time.Second
	return least + rand.N(min(least<<min(attempt, 10), most))
}

// check sees that the person was given all that he missed.
func (s *storm) check(c *comer) {
	s.t.Helper()
	sub := s.told(c)
	if !sub.Recovered || len(sub.Publications) != stormMissed {
		s.t.Fatalf("person %d: recovered %t, %d of %d entries", c.person, sub.Recovered, len(sub.Publications), stormMissed)
	}
	for i, p := range sub.Publications {
		if p.Offset != s.last+1+int64(i) || !strings.Contains(string(p.Data), fmt.Sprintf("missed %d\"", i)) {
			s.t.Fatalf("person %d: entry %d is %d, %s", c.person, i, p.Offset, p.Data)
		}
	}
}

// call makes a command over HTTP.
func (s *storm) call(user, method string, request, reply any) error {
	token, err := web.MintToken([]byte(idleSecret), web.Claims{User: user}, time.Hour)
	if err != nil {
		return err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, s.node.url.JoinPath("/v1/commands", method).String(), bytes.NewReader(body))
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
		return fmt.Errorf("%s: %s, %w", method, answer, err)
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(answer, reply)
}

// ownCPU is how long this process has worked so far.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Round(time.Millisecond)
}

// metric reads one figure of the server.
func (n *node) metric(name string) (value float64) {
	n.t.Helper()
	response, err := http.Get(n.ops + "metrics")
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if figure, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			if value, err = strconv.ParseFloat(figure, 64); err != nil {
				n.t.Fatal(err)
			}
			return value
		}
	}
	n.t.Fatalf("there is no metric %s", name)
	return 0
}
