//go:build unix && !race

package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/wire"
)

const (
	answersAskers = "HB_ANSWERS" // set in the process that asks: what, as JSON
	answersFor    = 2 * time.Second
	answersRounds = 3
	answersBound  = 2.0 // times what an echo costs; 1.3 on a machine that does nothing else
)

// asking is what the other process is to do: to ask the same over and over on each of so many sockets, the next time when it
// is answered.
type asking struct {
	URL     string
	Tokens  []string // of those who connect, in turn; nil: nobody is asked who he is
	Sockets int
	Request string
}

// TestAnswersCost compares the time that the server is at work for one answer which needs no waiting with that of a bare
// echo server.
func TestAnswersCost(t *testing.T) {
	s := newTestServer(t)
	const sockets, users = 200, 20
	boss, winner := s.signIn(t, "boss", 100), s.signIn(t, "winner", 0)
	room := call[wire.CreateRoomReply](t, s, boss, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	call[wire.JoinReply](t, s, winner, "join", wire.JoinRequest{Room: room})
	ours := asking{URL: "ws://" + s.listen(t) + "/v1/socket", Sockets: sockets}
	for i := range users {
		c := s.signIn(t, fmt.Sprint("asker-", i), 0)
		call[wire.JoinReply](t, s, c, "join", wire.JoinRequest{Room: room})
		ours.Tokens = append(ours.Tokens, goodToken(t, c.User.ID))
	}
	one := 1
	packet := call[wire.SendPacketReply](t, s, boss, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Mode: "equal", Total: 1, Count: &one}).Packet.ID
	call[wire.GrabReply](t, s, winner, "grab", wire.GrabRequest{Packet: packet})
	ours.Request = `{"id":7,"rpc":{"method":"grab","data":{"packet":"` + packet + `"}}}`

	bare := httptest.NewServer(http.HandlerFunc(echo))
	defer bare.Close()
	answer := `{"id":7,"rpc":{"data":{"packet":"` + packet + `","outcome":"empty","claimed":1,"count":1}}}`
	peer := asking{URL: "ws" + strings.TrimPrefix(bare.URL, "http"), Sockets: sockets, Request: answer}

	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the garbage of a server that holds next to nothing counts for little
	least := math.Inf(1)
	for range answersRounds {
		answer, echoed := ours.cost(t), peer.cost(t)
		t.Logf("an answer costs %.2f us, an echo %.2f us: %.2f times as much", answer, echoed, answer/echoed)
		least = min(least, answer/echoed)
	}
	if least > answersBound {
		t.Errorf("an answer costs %.2f times what an echo costs, want %.2f at most", least, answersBound)
	}
}

// echo is the loop that one would write at first.
func echo(w http.ResponseWriter, r *http.Request) {
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	for {
		kind, message, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, message) != nil {
			return
		}
	}
}

// cost is how many microseconds this process is at work for one answer.
func (a asking) cost(t *testing.T) float64 {
	t.Helper()
	order, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	asker := exec.Command(os.Args[0], "-test.run=^TestAnswersAsker$")
	asker.Env = append(os.Environ(), answersAskers+"="+string(order))
	asker.Stderr = os.Stderr
	said, err := asker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := asker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asker.Wait() }()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); line != "begin\n" {
		t.Fatalf("the asker says %q, %v", line, err)
	}
	worked := worktime(t)
	var answers int
	line, err := lines.ReadString('\n')
	worked = worktime(t) - worked
	if _, failed := fmt.Sscanf(line, "answers %d\n", &answers); failed != nil {
		t.Fatalf("the asker says %q, %v", line, err)
	}
	return float64(worked) / float64(time.Microsecond) / float64(answers)
}

// worktime is how long this process has been at work.
func worktime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestAnswersAsker is the process that asks.
func TestAnswersAsker(t *testing.T) {
	var a asking
	if order := os.Getenv(answersAskers); order == "" || json.Unmarshal([]byte(order), &a) != nil {
		t.Skip("runs in the process of TestAnswersCost")
	}
	all := make([]*websocket.Conn, a.Sockets)
	for i := range all {
		ws, _, err := websocket.DefaultDialer.Dial(a.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = ws
		if a.Tokens != nil {
			a.say(t, ws, `{"id":7,"connect":{"token":"`+a.Tokens[i%len(a.Tokens)]+`"}}`)
		}
		a.say(t, ws, a.Request)
	}
	fmt.Println("begin")
	var answers atomic.Int64
	var group sync.WaitGroup
	end := time.Now().Add(answersFor)
	for _, ws := range all {
		group.Go(func() {
			mine := 0
			for ; time.Now().Before(end); mine++ {
				a.say(t, ws, a.Request)
			}
			answers.Add(int64(mine))
		})
	}
	group.Wait()
	fmt.Printf("answers %d\n", answers.Load())
}

// say asks once, and waits for the answer.
func (a asking) say(t *testing.T, ws *websocket.Conn, request string) {
	if err := ws.WriteMessage(websocket.TextMessage, []byte(request)); err != nil {
		t.Error(err)
		return
	}
	for {
		_, data, err := ws.ReadMessage()
		if err != nil {
			t.Error(err)
			return
		}
		if strings.Contains(string(data), `{"id":7`) {
			if strings.Contains(string(data), "error") {
				t.Error(string(data))
			}
			return
		}
	}
}
