package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"hongbao/web/wire"
)

// Abuse is a load of honest users and as many attackers. The installation must limit rates, and trust this machine as a proxy: the
// sockets of each user name an address of the user's own in X-Forwarded-For. Requests over HTTP come from this machine's address.
type Abuse struct {
	Users    int           // honest users, and as many attackers
	Duration time.Duration // of each way of abuse
	// Reads, if there are any, are the only way of abuse: every attacker makes them, one after the other, as the user Reader.
	Reader string
	Reads  []Read
}

// Read is a command that reads.
type Read struct{ Command, Request string }

// Abused is what the honest users measured while the attackers acted in one way.
type Abused struct {
	Way                   string
	Attacks               int64 // requests, frames or connections of the attackers
	Send, History, Wallet *hdrhistogram.Histogram
}

// honestEvery is how often an honest user sends a text, and reads the newest entries of the room and their wallet.
const honestEvery = 250 * time.Millisecond

// abuse is one run of all ways of abuse.
type abuse struct {
	Abuse
	target *Target
	run    string
	room   string // public, with long texts
}

// RunAbuse measures honest users without attackers, and then beside attackers, once for each way of abuse.
func RunAbuse(ctx context.Context, t *Target, plan Abuse) (results []Abused, err error) {
	a := &abuse{Abuse: plan, target: t, run: fmt.Sprint("abuse-", time.Now().UnixNano())}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	ways := ways
	if len(plan.Reads) > 0 {
		reads, err := a.readsOfOne(ctx)
		if err != nil {
			return nil, err
		}
		ways = append(ways[:1:1], reads)
	}
	for n, way := range ways {
		r, err := a.play(ctx, n, way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// prepare makes the room. A page of its history has 150 KB.
func (a *abuse) prepare(ctx context.Context) error {
	owner, err := a.user(0)
	if err != nil {
		return err
	}
	var created wire.CreateRoomReply
	if err := a.target.command(ctx, owner, "create_room", wire.CreateRoomRequest{Key: a.run, Name: "abuse", Kind: "public"}, &created); err != nil {
		return err
	}
	a.room = created.Room.ID
	for i := range 50 {
		if err := a.target.command(ctx, owner, "send", wire.SendRequest{Room: a.room, Key: strconv.Itoa(i), Text: strings.Repeat("x", 3000)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// user makes the user with this number, whose id and token are of this run.
func (a *abuse) user(number int) (u *user, err error) {
	u = &user{number: number}
	u.id, u.token, err = a.target.Tokens.user(a.run, number)
	return u, err
}

// members makes users with the numbers from first on, puts them into the room and gives them money.
func (a *abuse) members(ctx context.Context, first int) (users []*user, err error) {
	for n := range a.Users {
		u, err := a.user(first + n)
		if err == nil {
			err = a.target.command(ctx, u, "join", wire.JoinRequest{Room: a.room}, nil)
		}
		if err == nil {
			err = a.target.credit(ctx, u.id, 10_000_000, u.id)
		}
		if err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

// play lets honest users and the attackers of one way act at the same time.
func (a *abuse) play(ctx context.Context, number int, way way) (Abused, error) {
	honest, err := a.members(ctx, 1+2*number*a.Users)
	if err != nil {
		return Abused{}, err
	}
	attackers, err := a.members(ctx, 1+(2*number+1)*a.Users)
	if err != nil {
		return Abused{}, err
	}
	sockets := make([]*abuseSocket, len(honest))
	for i, u := range honest {
		if sockets[i], err = dialAbuse(ctx, a.target, u, fmt.Sprintf("10.1.%d.%d", number, i+1)); err != nil {
			return Abused{}, err
		}
		defer sockets[i].close()
	}
	ctx, stop := context.WithTimeout(ctx, a.Duration)
	defer stop()
	var attacks atomic.Int64
	var attacking sync.WaitGroup
	for i, u := range attackers {
		if way.attack != nil {
			attacking.Go(func() { a.attack(ctx, u, fmt.Sprintf("10.0.%d.%d", number, i+1), way, &attacks) })
		}
	}
	r := Abused{Way: way.name, Send: newHistogram(), History: newHistogram(), Wallet: newHistogram()}
	var mu sync.Mutex
	var acting errgroup.Group
	for i, u := range honest {
		acting.Go(func() error { return a.act(ctx, u, sockets[i], &mu, r) })
	}
	err = acting.Wait()
	attacking.Wait()
	r.Attacks = attacks.Load()
	return r, err
}

// act is an honest user: it sends a text and reads once in honestEvery, or later if the answers take longer. It goes on until ctx ends, but does so at least once.
func (a *abuse) act(ctx context.Context, u *user, s *abuseSocket, mu *sync.Mutex, r Abused) error {
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		due := time.Now().Add(honestEvery)
		for _, c := range []struct {
			method  string
			request any
			into    *hdrhistogram.Histogram
		}{
			{"send", wire.SendRequest{Room: a.room, Key: fmt.Sprint(u.id, n), Text: "hello"}, r.Send},
			{"history", wire.HistoryRequest{Room: a.room, Limit: 10}, r.History},
			{"wallet", wire.WalletRequest{}, r.Wallet},
		} {
			began := time.Now()
			if err := s.call(c.method, c.request); err != nil {
				return err
			}
			mu.Lock()
			err := c.into.RecordValue(time.Since(began).Microseconds())
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		pause(ctx, time.Until(due))
	}
	return nil
}

// abuseSocket is a socket of an honest user or an attacker. One goroutine uses it.
type abuseSocket struct {
	*websocket.Conn
	next uint32
	stop func() bool
}

// dialAbuse opens a socket with openAbuse, and connects the user.
func dialAbuse(ctx context.Context, t *Target, u *user, address string) (*abuseSocket, error) {
	s, err := openAbuse(ctx, t, address)
	if err != nil {
		return nil, err
	}
	if err := s.command(fmt.Sprintf(`"connect":{"token":%q}`, u.token)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openAbuse opens a socket whose X-Forwarded-For names the address. It sends no connect command.
func openAbuse(ctx context.Context, t *Target, address string) (*abuseSocket, error) {
	ws, response, err := websocket.DefaultDialer.DialContext(ctx, t.socketURL(0), http.Header{"X-Forwarded-For": {address}})
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return &abuseSocket{Conn: ws, stop: context.AfterFunc(ctx, func() { _ = ws.Close() })}, nil
}

func (s *abuseSocket) close() {
	s.stop()
	_ = s.Close()
}

// call runs an RPC and waits for its reply.
func (s *abuseSocket) call(method string, request any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return s.command(fmt.Sprintf(`"rpc":{"method":%q,"data":%s}`, method, data))
}

// command sends a command and waits for its reply. It skips pushes and answers pings. An error reply is an error.
func (s *abuseSocket) command(body string) error {
	s.next++
	if err := s.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%d,%s}`, s.next, body)); err != nil {
		return err
	}
	mine := fmt.Sprintf(`{"id":%d,`, s.next)
	for {
		_, data, err := s.ReadMessage()
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			switch {
			case strings.TrimSpace(line) == "{}":
				if err := s.WriteMessage(websocket.TextMessage, []byte("{}")); err != nil {
					return err
				}
			case strings.HasPrefix(line, mine+`"error"`):
				return fmt.Errorf("%.40s… was refused: %.200s", body, line)
			case strings.HasPrefix(line, mine):
				return nil
			}
		}
	}
}

// way is a way to abuse a server.
type way struct {
	name string
	// attack acts once and returns how many requests, frames or connections it made. It is called again and again, whatever it
	// returns. nil: no attack.
	attack func(ctx context.Context, a *abuse, u *user, address string) (requests int)
}

// ways lists the ways of abuse that RunAbuse measures. The first one has no attack.
var ways = []way{
	{"nothing", nil},
	{"reads of history, reconnecting", readAndReconnect},
	{"reads of history over HTTP", readOverHTTP},
	{"pings", sendPings},
	{"replies that are not read", readNothing},
	{"sockets without a command", holdSockets},
	{"packets of 10,000 shares, cancelled", sendAndCancel},
}

// readsOfOne is the way of Reads. Each must succeed once.
func (a *abuse) readsOfOne(ctx context.Context) (way, error) {
	reader := &user{id: a.Reader}
	var err error
	if reader.token, err = a.target.Tokens.sign(a.Reader, ""); err != nil {
		return way{}, err
	}
	for _, r := range a.Reads {
		if err := a.target.command(ctx, reader, r.Command, json.RawMessage(r.Request), nil); err != nil {
			return way{}, err
		}
	}
	var made atomic.Uint64
	return way{"heavy reads of one user", func(ctx context.Context, a *abuse, _ *user, _ string) int {
		read := a.Reads[made.Add(1)%uint64(len(a.Reads))]
		if a.once(ctx, reader, read.Command, json.RawMessage(read.Request), nil) != nil {
			return 0
		}
		return 1
	}}, nil
}

// attack repeats a way until ctx ends.
func (a *abuse) attack(ctx context.Context, u *user, address string, way way, attacks *atomic.Int64) {
	for ctx.Err() == nil {
		n := way.attack(ctx, a, u, address)
		attacks.Add(int64(n))
		if n == 0 {
			pause(ctx, 10*time.Millisecond) // refused: a loop without a pause would only use up this machine's CPU
		}
	}
}

// historyFrame returns the content of a frame with wire.CommandsPerFrame commands, each of which reads a page of the room's history.
func (a *abuse) historyFrame() []byte {
	var lines []string
	for i := range wire.CommandsPerFrame {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"rpc":{"method":"history","data":{"room":%q}}}`, 1000+i, a.room))
	}
	return []byte(strings.Join(lines, "\n"))
}

func readAndReconnect(ctx context.Context, a *abuse, u *user, address string) int {
	s, err := dialAbuse(ctx, a.target, u, address)
	if err != nil {
		return 0
	}
	defer s.close()
	if s.WriteMessage(websocket.TextMessage, a.historyFrame()) != nil {
		return 1
	}
	for answers := 0; answers < wire.CommandsPerFrame; {
		_, data, err := s.ReadMessage()
		if err != nil {
			return 1 + answers
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, `{"id":`) {
				answers++
			}
		}
	}
	return 1 + wire.CommandsPerFrame
}

func readOverHTTP(ctx context.Context, a *abuse, u *user, _ string) int {
	_, err := a.target.try(ctx, "POST", a.target.url(0)+"/v1/commands/history", u.token, fmt.Appendf(nil, `{"room":%q}`, a.room), nil)
	if err != nil {
		return 0
	}
	return 1
}

func sendPings(ctx context.Context, a *abuse, _ *user, address string) (sent int) {
	s, err := openAbuse(ctx, a.target, address)
	if err != nil {
		return 0
	}
	defer s.close()
	const together = 10_000 // in one write, so that they cost the attacker little
	for pings := bytes.Repeat([]byte{0x89, 0x80, 0, 0, 0, 0}, together); ctx.Err() == nil; sent += together {
		if _, err := s.NetConn().Write(pings); err != nil {
			break
		}
	}
	return sent
}

func readNothing(ctx context.Context, a *abuse, u *user, address string) int {
	s, err := dialAbuse(ctx, a.target, u, address)
	if err != nil {
		return 0
	}
	_ = s.WriteMessage(websocket.TextMessage, a.historyFrame()) // the socket stays open until ctx ends
	pause(ctx, 100*time.Millisecond)
	return wire.CommandsPerFrame
}

func holdSockets(ctx context.Context, a *abuse, _ *user, address string) int {
	if _, err := openAbuse(ctx, a.target, address); err != nil { // it stays open until ctx ends
		return 0
	}
	return 1
}

func sendAndCancel(ctx context.Context, a *abuse, u *user, _ string) int {
	const shares = 10_000
	var sent wire.SendPacketReply
	request := wire.SendPacketRequest{Room: a.room, Key: strconv.FormatInt(time.Now().UnixNano(), 10), Mode: "lucky", Total: shares, Count: new(shares)}
	if a.once(ctx, u, "send_packet", request, &sent) != nil {
		return 0
	}
	if a.once(ctx, u, "cancel_packet", wire.CancelPacketRequest{Packet: sent.Packet.ID}, nil) != nil {
		return 1
	}
	return 2
}

// once calls an RPC over HTTP, without repeating it.
func (a *abuse) once(ctx context.Context, u *user, method string, request, answer any) error {
	body, err := json.Marshal(request)
	if err == nil {
		_, err = a.target.try(ctx, "POST", a.target.url(0)+"/v1/commands/"+method, u.token, body, answer)
	}
	return err
}
