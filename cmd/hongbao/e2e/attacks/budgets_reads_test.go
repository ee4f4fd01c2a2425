package attacks

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// archive makes a room with long texts, and returns its id. A page of its history has 9 KB for each text, and 50 texts at most.
func archive(t *testing.T, s *e2e.Server, token string, texts int) string {
	t.Helper()
	var created wire.CreateRoomReply
	room := wire.CreateRoomRequest{Key: "archive", Name: "archive", Kind: "public"}
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, token, "commands/create_room", room), &created))
	for i := range texts {
		text := wire.SendRequest{Room: created.Room.ID, Key: fmt.Sprint(i), Text: strings.Repeat("长", 3000)}
		mustAnswer(t, s, http.StatusOK, token, "commands/send", text)
	}
	return created.Room.ID
}

// askHistory sends n commands in one frame, each of which reads a page of history.
func (s budgetSocket) askHistory(room string, n int) error {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"rpc":{"method":"history","data":{"room":%q}}}`, 100+i, room))
	}
	return s.WriteMessage(websocket.TextMessage, []byte(strings.Join(lines, "\n")))
}

// dialToReadNothing opens a connection with a small buffer, so that replies wait in the server and not on this side.
func dialToReadNothing(network, addr string) (net.Conn, error) {
	conn, err := net.Dial(network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	}
	return conn, err
}

// TestBudgetsUnreadRepliesAreBounded asks for 32 pages of history on each of 40 sockets and reads none. A socket may have 1 MiB of unread
// replies, and the page that was read meanwhile.
func TestBudgetsUnreadRepliesAreBounded(t *testing.T) {
	enginetest.Nightly(t, "whole")
	const users, socketsOfEach, bound = 8, 5, 40 * 2 << 20
	s := start(t)
	owner := s.Guest("owner")
	room := archive(t, s, owner.Token, 50)
	dialer := websocket.Dialer{NetDial: dialToReadNothing}
	var sockets []budgetSocket
	for range users {
		user := s.Guest("greedy")
		if status, reply, err := s.Post(user.Token, "commands/join", wire.JoinRequest{Room: room}); err != nil || status != 200 {
			t.Fatal(status, err, string(reply))
		}
		for range socketsOfEach {
			ws, _, err := dialer.Dial(s.SocketURL(false), nil)
			e2e.NoError(t, err)
			t.Cleanup(func() { _ = ws.Close() })
			socket := budgetSocket{ws, t}
			socket.connect(user.Token)
			sockets = append(sockets, socket)
		}
	}
	for _, socket := range sockets { // at once: a socket whose client reads nothing ends after 10 s
		e2e.NoError(t, socket.askHistory(room, 32))
	}
	var most float64
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // sleeps: between two samples
		most = max(most, s.Metric("hongbao_queued_bytes"))
	}
	if most > bound || most < 10<<20 {
		t.Errorf("%.0f MiB waited for sockets that read nothing, want at most %d and at least 10", most/(1<<20), bound>>20)
	}
	reader := budgetSocket{t: t}
	var err error
	reader.Conn, _, err = websocket.DefaultDialer.Dial(s.SocketURL(false), nil)
	e2e.NoError(t, err)
	defer func() { _ = reader.Close() }()
	reader.connect(owner.Token)
	e2e.NoError(t, reader.askHistory(room, 1))
	e2e.NoError(t, reader.SetReadDeadline(time.Now().Add(30*time.Second)))
	for reply := ""; !strings.HasPrefix(reply, `{"id":100,"rpc":`); { // pushes come, too
		_, data, err := reader.ReadMessage()
		e2e.NoError(t, err)
		reply = string(data)
	}
}

// TestBudgetsUnreadRepliesOverHTTPAreBounded asks for twelve pages of history on each of 60 connections and reads none. Replies over HTTP may use
// a quarter of the bound. Connections must end, and another user must get a page.
func TestBudgetsUnreadRepliesOverHTTPAreBounded(t *testing.T) {
	enginetest.Nightly(t, "whole")
	const users, connectionsOfEach, pages, bound = 6, 10, 12, 8 << 20
	s := start(t, "HONGBAO_JWT_SECRET="+secret, fmt.Sprint("HONGBAO_MAX_REPLY_BYTES=", 4*bound))
	owner := hostToken(t, auth.Claims{User: "owner"})
	room := archive(t, s, owner, 50)
	page := e2e.JSON(wire.HistoryRequest{Room: room})
	for i := range users {
		token := hostToken(t, auth.Claims{User: fmt.Sprint("greedy-", i)})
		mustAnswer(t, s, http.StatusOK, token, "commands/join", wire.JoinRequest{Room: room})
		for range connectionsOfEach {
			conn, err := dialToReadNothing("tcp", s.URL.Host)
			e2e.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			request := fmt.Sprintf("POST /v1/commands/history HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
				s.URL.Host, token, len(page), page)
			_, err = conn.Write([]byte(strings.Repeat(request, pages)))
			e2e.NoError(t, err)
		}
	}
	var most float64
	e2e.Eventually(t, 30*time.Second, "ten connections to end", func() bool {
		most = max(most, s.Metric("hongbao_queued_bytes"))
		return s.Metric("hongbao_http_slow_total") >= 10
	})
	if most > bound || most < bound/2 {
		t.Errorf("%.1f MiB waited for connections that read nothing, want at most %d and at least half of it", most/(1<<20), bound>>20)
	}
	mustAnswer(t, s, http.StatusOK, owner, "commands/history", wire.HistoryRequest{Room: room})
}

// TestBudgetsReadsDoNotHoldUpAWallet keeps 256 reads of long pages of one user under way. Another user's wallet must be answered
// before the server has answered many of them.
func TestBudgetsReadsDoNotHoldUpAWallet(t *testing.T) {
	enginetest.Nightly(t, "whole")
	s := start(t)
	reader, user := s.Guest("reader"), s.Guest("user")
	room := archive(t, s, reader.Token, 50)
	var answered atomic.Int64
	for range 8 {
		socket := dialBudget(t, s)
		socket.connect(reader.Token)
		e2e.NoError(t, socket.askHistory(room, 32))
		go func() {
			for waiting := 32; ; {
				_, data, err := socket.ReadMessage()
				if err != nil {
					return // the test has ended
				}
				for line := range strings.Lines(string(data)) {
					if strings.HasPrefix(line, `{"id":`) {
						answered.Add(1)
						waiting--
					}
				}
				if waiting == 0 {
					waiting = 32
					if socket.askHistory(room, 32) != nil {
						return
					}
				}
			}
		}()
	}
	e2e.Eventually(t, 30*time.Second, "64 pages to be read", func() bool { return answered.Load() >= 64 })
	var overtaken []int64
	for range 21 {
		before := answered.Load()
		if status, reply, err := s.Post(user.Token, "commands/wallet", wire.WalletRequest{}); err != nil || status != 200 {
			t.Fatal(status, err, string(reply))
		}
		overtaken = append(overtaken, answered.Load()-before)
	}
	slices.Sort(overtaken)
	if median := overtaken[len(overtaken)/2]; median > 20 {
		t.Errorf("at the median %d reads are answered before a wallet that came later, want at most 20: %v", median, overtaken)
	}
}

// TestBudgetsOverloadRefusesTheGreedy lets twelve users read as much as their own budgets allow, and more than the server can. The server
// must refuse reads of theirs. It must refuse nothing of a user that reads a page now and then, sends texts and looks at the wallet.
func TestBudgetsOverloadRefusesTheGreedy(t *testing.T) {
	enginetest.Nightly(t, "whole")
	const users, socketsOfEach = 12, 5
	s := start(t, "HONGBAO_LIMITS=on", "HONGBAO_JWT_SECRET="+secret, "HONGBAO_MAX_READ_WAIT=50ms")
	honest := hostToken(t, auth.Claims{User: "honest"})
	room := archive(t, s, honest, 20)
	var sockets []budgetSocket
	for i := range users {
		token := hostToken(t, auth.Claims{User: fmt.Sprint("greedy-", i)})
		mustAnswer(t, s, http.StatusOK, token, "commands/join", wire.JoinRequest{Room: room})
		for range socketsOfEach {
			socket := dialBudget(t, s)
			socket.connect(token)
			sockets = append(sockets, socket)
		}
	}
	var greedy sync.WaitGroup
	var over atomic.Bool
	for _, socket := range sockets { // when all are connected: only together they are too many
		greedy.Go(func() {
			for !over.Load() {
				if socket.askHistory(room, 32) != nil || socket.awaitAnswers(32) != nil {
					return // closed because of the rate of its commands
				}
			}
		})
	}
	time.Sleep(time.Second) // sleeps: the archive has used up what its user may send at once
	refused := 0.0
	for began, i := time.Now(), 0; time.Since(began) < 3*time.Second || refused == 0 && time.Since(began) < 30*time.Second; i++ {
		mustAnswer(t, s, http.StatusOK, honest, "commands/history", wire.HistoryRequest{Room: room})
		mustAnswer(t, s, http.StatusOK, honest, "commands/send", wire.SendRequest{Room: room, Key: fmt.Sprint("during-", i), Text: "hello"})
		mustAnswer(t, s, http.StatusOK, honest, "commands/wallet", wire.WalletRequest{})
		time.Sleep(300 * time.Millisecond) // sleeps: the user reads
		refused = s.Metric("hongbao_reads_refused_total")
	}
	over.Store(true)
	greedy.Wait()
	if refused == 0 {
		t.Error("no read of a greedy user was refused, want some")
	}
}

// awaitAnswers reads the answers to n commands.
func (s budgetSocket) awaitAnswers(n int) error {
	for n > 0 {
		_, data, err := s.ReadMessage()
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, `{"id":`) {
				n--
			}
		}
	}
	return nil
}
