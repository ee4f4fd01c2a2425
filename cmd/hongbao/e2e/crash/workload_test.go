package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// workload is one sender and three grabbers in a room, and the record of what the server acknowledged.
type workload struct {
	t          *testing.T
	server     *e2e.Server // clients connect to it, and its database is audited
	room       string
	ttl        int64         // of packets, in seconds
	count      int           // shares of a packet
	rounds     int           // most packets that the sender may send
	endTime    time.Duration // allowed for the end of each packet, beside a fixed time
	deletes    bool          // the sender also deletes a room with an open packet
	redisLoses bool          // Redis may lose grabs: see repeatAll
	sender     *e2e.Client
	grabbers   []*e2e.Client
	restarted  time.Time

	mu        sync.Mutex // guards the record
	requests  []wire.SendPacketRequest
	packets   map[string]wire.SendPacketReply // acknowledged, by key
	texts     map[string]wire.SendReply       // acknowledged, by key
	won       []wonGrab
	entered   []wonGrab       // the same of grabs that were answered "entered"
	cancelled map[string]bool // packets whose cancellation was acknowledged
}

// wonGrab is a grab that was answered with a share.
type wonGrab struct {
	by    *e2e.Client
	reply wire.GrabReply
}

func newWorkload(t *testing.T) *workload {
	return &workload{
		t: t, ttl: 5, count: 3, rounds: 30,
		packets: map[string]wire.SendPacketReply{}, texts: map[string]wire.SendReply{}, cancelled: map[string]bool{},
	}
}

// prepare connects the clients, makes the room, and leaves one packet half grabbed.
func (w *workload) prepare(s *e2e.Server) {
	w.t.Helper()
	w.server = s
	w.sender = e2e.Connect(w.t, s, s.Guest("sender"), false)
	w.room = e2e.Call[wire.CreateRoomReply](w.sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	for i := range 3 {
		c := e2e.Connect(w.t, s, s.Guest(fmt.Sprint("grabber ", i)), i%2 == 1)
		e2e.Call[wire.JoinReply](c, "join", wire.JoinRequest{Room: w.room})
		w.grabbers = append(w.grabbers, c)
	}
	if id := w.send(w.t.Context(), "first", 100); id != "" {
		w.grab(w.t.Context(), w.grabbers[0], id)
	}
}

// run lets all clients act until stop is closed or the time is over.
func (w *workload) run(stop <-chan struct{}, longest time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	var all sync.WaitGroup
	for i, c := range w.grabbers {
		all.Go(func() { w.grabAll(ctx, i, c) })
	}
	if w.deletes {
		all.Go(func() { w.deleteRoom(ctx) })
	}
	all.Go(func() {
		for i := range w.rounds {
			send := w.send
			switch {
			case i == 1:
				send = w.sendRain // its waves come while others are sent
			case i%4 == 2:
				send = w.sendDraw
			}
			id := send(ctx, fmt.Sprint("packet-", i), int64(100*(i%4+1)))
			w.say(ctx, fmt.Sprint("text-", i))
			if id != "" && i%4 == 3 {
				w.cancel(ctx, id)
			}
			if !pause(ctx) {
				return
			}
		}
	})
	all.Wait()
	<-ctx.Done()
}

// deleteRoom sends a packet that lasts for days into another room, has one share grabbed, and deletes the room. That packet is
// not in the record: the audit must show it closed like all others.
func (w *workload) deleteRoom(ctx context.Context) {
	var room wire.CreateRoomReply
	var sent wire.SendPacketReply
	for _, step := range []func() error{
		func() (err error) {
			room, err = e2e.Try[wire.CreateRoomReply](ctx, w.sender, "create_room", wire.CreateRoomRequest{Key: "deleted", Name: "deleted", Kind: "public"})
			return err
		},
		func() error {
			_, err := e2e.Try[wire.JoinReply](ctx, w.grabbers[0], "join", wire.JoinRequest{Room: room.Room.ID})
			return err
		},
		func() (err error) {
			sent, err = e2e.Try[wire.SendPacketReply](ctx, w.sender, "send_packet", wire.SendPacketRequest{
				Room: room.Room.ID, Key: "deleted-packet", Total: 300, Count: new(3), TTLS: new(int64(7 * 86400))})
			return err
		},
		func() error {
			_, err := e2e.Try[wire.GrabReply](ctx, w.grabbers[0], "grab", wire.GrabRequest{Packet: sent.Packet.ID})
			return err
		},
		func() error {
			_, err := e2e.Try[wire.DeleteRoomReply](ctx, w.sender, "delete_room", wire.DeleteRoomRequest{Room: room.Room.ID})
			return err
		},
	} {
		for step() != nil { // the socket was cut; repeating a request is always safe
			if !pause(ctx) {
				return
			}
		}
	}
}

// pause sleeps for a moment, and reports whether ctx goes on.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(50 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// grabAll grabs at every packet that grabber i receives. Only the first grabber grabs at every fourth packet, so that it expires.
func (w *workload) grabAll(ctx context.Context, i int, c *e2e.Client) {
	seen := 0
	var rains []wire.Packet
	for pause(ctx) {
		entries := c.Heard(w.room)[seen:]
		seen += len(entries)
		for _, e := range entries {
			var p wire.Packet
			if e.Kind == "packet" && json.Unmarshal(e.Body, &p) == nil && (i == 0 || p.Total%400 != 200) {
				w.grab(ctx, c, p.ID)
				if p.Waves > 0 {
					rains = append(rains, p)
				}
			}
		}
		rains = slices.DeleteFunc(rains, func(p wire.Packet) bool { return time.Now().UnixMilli() > p.ExpiresAt })
		for _, p := range rains { // perhaps a wave is open
			w.grab(ctx, c, p.ID)
		}
	}
}

// send sends a packet once, and returns its id if the answer came.
func (w *workload) send(ctx context.Context, key string, total int64) (id string) {
	return w.sendPacket(ctx, wire.SendPacketRequest{Room: w.room, Key: key, Total: total, Count: new(w.count), TTLS: &w.ttl})
}

// sendDraw does the same with a draw.
func (w *workload) sendDraw(ctx context.Context, key string, total int64) (id string) {
	return w.sendPacket(ctx, wire.SendPacketRequest{Room: w.room, Key: key, Total: total, Count: new(2), WindowS: new(int64(3)), Rest: "share"})
}

// sendRain does the same with a rain.
func (w *workload) sendRain(ctx context.Context, key string, total int64) (id string) {
	return w.sendPacket(ctx, wire.SendPacketRequest{Room: w.room, Key: key, Total: total, Count: new(6), Waves: new(3), OverS: new(int64(10))})
}

func (w *workload) sendPacket(ctx context.Context, request wire.SendPacketRequest) (id string) {
	reply, err := e2e.Try[wire.SendPacketReply](ctx, w.sender, "send_packet", request)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, request)
	if err == nil {
		w.packets[request.Key] = reply
	}
	return reply.Packet.ID
}

func (w *workload) say(ctx context.Context, key string) {
	reply, err := e2e.Try[wire.SendReply](ctx, w.sender, "send", wire.SendRequest{Room: w.room, Key: key, Text: key})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.texts[key] = reply
	}
}

func (w *workload) grab(ctx context.Context, c *e2e.Client, packet string) {
	reply, err := e2e.Try[wire.GrabReply](ctx, c, "grab", wire.GrabRequest{Packet: packet})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && (reply.Outcome == "won" || reply.Outcome == "already") {
		w.won = append(w.won, wonGrab{c, reply})
	}
	if err == nil && reply.Outcome == "entered" {
		w.entered = append(w.entered, wonGrab{c, reply})
	}
}

func (w *workload) cancel(ctx context.Context, packet string) {
	_, err := e2e.Try[wire.CancelPacketReply](ctx, w.sender, "cancel_packet", wire.CancelPacketRequest{Packet: packet})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.cancelled[packet] = true
	}
}

// acknowledged returns how many grabs, texts and packets were answered so far.
func (w *workload) acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.won) + len(w.entered) + len(w.texts) + len(w.packets)
}
