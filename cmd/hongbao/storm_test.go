package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"hongbao/web"
	"hongbao/web/wire"
)

const (
	stormSockets = 5_000
	stormRooms   = 50
	stormMissed  = 20 // entries of each room, while everybody is away
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
	before := n.metric("hongbao_resume_reads_total")
	began := time.Now()
	took := s.comeBack()
	t.Logf("%.0f were sent away before the upgrade", n.metric("hongbao_connects_refused_total"))
	t.Logf("%d sockets are back after %v: half of them after %v, 99 %% after %v", stormSockets, time.Since(began).Round(time.Millisecond),
		took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
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
	got, err := s.connect(1, false)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, sub := range got.Subs {
		s.epoch, s.last = sub.Epoch, sub.Offset
	}
}

// comeBack has all connect at the same moment, and tells how long each took, sorted.
func (s *storm) comeBack() []time.Duration {
	s.t.Helper()
	var coming errgroup.Group
	var mu sync.Mutex
	var took []time.Duration
	began := time.Now()
	for i := 1; i <= stormSockets; i++ {
		person := 1 + i%(stormSockets-1)
		coming.Go(func() error {
			got, err := s.connect(person, true)
			for err != nil && time.Since(began) < time.Minute { // as SDKs do
				<-time.After(500*time.Millisecond + rand.N(500*time.Millisecond))
				got, err = s.connect(person, true)
			}
			if err != nil {
				return fmt.Errorf("person %d: %w", person, err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began))
			return s.check(person, got)
		})
	}
	if err := coming.Wait(); err != nil {
		s.t.Fatal(err)
	}
	return took // in the order in which they came back
}

// check sees that the person was given all that he missed.
func (s *storm) check(person int, got connected) error {
	sub := got.Subs[wire.RoomChannel(s.room(person))]
	if !sub.Recovered || len(sub.Publications) != stormMissed {
		return fmt.Errorf("person %d: recovered %t, %d of %d entries", person, sub.Recovered, len(sub.Publications), stormMissed)
	}
	for i, p := range sub.Publications {
		if p.Offset != s.last+1+int64(i) || !strings.Contains(string(p.Data), fmt.Sprintf("missed %d\"", i)) {
			return fmt.Errorf("person %d: entry %d is %d, %s", person, i, p.Offset, p.Data)
		}
	}
	return nil
}

// connected is what the test looks at of a connect reply.
type connected struct {
	Subs map[string]struct {
		Recovered    bool
		Epoch        string
		Offset       int64
		Publications []struct {
			Offset int64
			Data   json.RawMessage
		}
	}
}

// connect makes a socket that lasts until the end of the test, if it gets a good connect reply.
func (s *storm) connect(person int, recovers bool) (got connected, err error) {
	token, err := web.MintToken([]byte(idleSecret), web.Claims{User: fmt.Sprint("u-", person)}, time.Hour)
	if err != nil {
		return connected{}, err
	}
	dialer := websocket.Dialer{ReadBufferSize: 1024, WriteBufferSize: 512, HandshakeTimeout: 30 * time.Second}
	ws, response, err := dialer.DialContext(context.Background(), s.node.socket(false), nil)
	if err != nil {
		return connected{}, fmt.Errorf("dial: %w", err)
	}
	_ = response.Body.Close()
	defer func() {
		if err != nil {
			_ = ws.Close()
		}
	}()
	s.t.Cleanup(func() { _ = ws.Close() })
	subs := ""
	if recovers {
		subs = fmt.Sprintf(`,"subs":{%q:{"recover":true,"epoch":%q,"offset":%d}}`, wire.RoomChannel(s.room(person)), s.epoch, s.last)
	}
	if err := ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":1,"connect":{"token":%q%s}}`, token, subs)); err != nil {
		return connected{}, err
	}
	_, data, err := ws.ReadMessage()
	if err != nil {
		return connected{}, err
	}
	var reply struct {
		Connect connected
		Error   *struct{ Message string }
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	switch err := json.Unmarshal(line, &reply); {
	case err != nil:
		return connected{}, fmt.Errorf("%s: %w", line, err)
	case reply.Error != nil:
		return connected{}, errors.New(reply.Error.Message)
	}
	return reply.Connect, nil
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
