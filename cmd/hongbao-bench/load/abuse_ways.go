package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/web/wire"
)

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
