package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hongbao/redpacket/crashpoint"
	"hongbao/web/wire"
)

// TestCrashPoints lets the real program kill itself at every named step, while real clients send, grab,
// cancel and let packets run out. Afterwards what anyone was told must be stored, and nothing be stuck.
func TestCrashPoints(t *testing.T) {
	binary := build(t, "crashpoints")
	places := make(chan struct{}, 9) // each waits most of its time, for deadlines to pass
	var all sync.WaitGroup
	for _, point := range crashpoint.Points {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(point, func(t *testing.T) { crashAt(t, binary, point) })
		})
	}
	all.Wait()
}

func crashAt(t *testing.T, binary, point string) {
	s := newScene(t)
	variables := s.crashVariables(point)
	place := start(t, binary, t.TempDir(), freeAddress(t))
	s.open(place)
	place.kill()
	dying := start(t, binary, place.dir, place.url.Host, variables...)
	s.play(dying.exited, 30*time.Second)
	if !dying.killedItself() {
		t.Fatalf("the process did not come to %s", point)
	}
	s.node = start(t, binary, place.dir, place.url.Host)
	s.after()
}

// crashVariables lets a server kill itself at the point, and makes sure that it comes there.
func (s *scene) crashVariables(point string) []string {
	variables := []string{"HONGBAO_CRASH_AT=" + point}
	if strings.HasPrefix(point, "recover.") {
		// A claim is lost on its way, in a packet that neither drains nor ends before recovery finds it.
		variables = append(variables, "HONGBAO_LOSE_AT=grab.after-pool")
		s.ttl, s.count = 12, 9
	}
	return variables
}

// killedItself waits for the process to die, and tells whether it was by its own hand.
func (n *node) killedItself() bool {
	select {
	case <-n.exited:
	case <-time.After(time.Second):
		return false
	}
	status, ok := n.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// scene is a room with people on servers of which one dies, or loses something, and the journal of what they were told.
type scene struct {
	t         *testing.T
	node      *node // where people connect, and whose books are looked at
	room      string
	ttl       int64
	count     int
	rounds    int // how often the sender sends
	sender    *client
	grabbers  []*client
	restarted time.Time

	mu     sync.Mutex // guards the journal
	asked  []wire.SendPacketRequest
	sent   map[string]wire.SendPacketReply // by key: acknowledged
	said   map[string]wire.SendReply       // by key: acknowledged
	won    []told
	cancel map[string]bool // packets that were told to be cancelled
}

func newScene(t *testing.T) *scene {
	return &scene{
		t: t, ttl: 5, count: 3, rounds: 30,
		sent: map[string]wire.SendPacketReply{}, said: map[string]wire.SendReply{}, cancel: map[string]bool{},
	}
}

// told is a grab that was answered with a share.
type told struct {
	by    *client
	reply wire.GrabReply
}

// open lets people in and leaves a packet half grabbed.
func (s *scene) open(n *node) {
	s.t.Helper()
	s.node = n
	s.sender = connect(s.t, s.node, s.node.guest("sender"), false)
	s.room = must[wire.CreateRoomReply](s.sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "stage"}).Room.ID
	for i := range 3 {
		c := connect(s.t, s.node, s.node.guest(fmt.Sprint("grabber ", i)), i%2 == 1)
		must[wire.JoinReply](c, "join", wire.JoinRequest{Room: s.room})
		s.grabbers = append(s.grabbers, c)
	}
	if id := s.send(s.t.Context(), "first", 100); id != "" {
		s.grab(s.t.Context(), s.grabbers[0], id)
	}
}

// play has everyone act until it is over, or has lasted long enough.
func (s *scene) play(over <-chan struct{}, longest time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	go func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	var all sync.WaitGroup
	for i, c := range s.grabbers {
		all.Go(func() { s.grabAll(ctx, i, c) })
	}
	all.Go(func() {
		for i := range s.rounds {
			id := s.send(ctx, fmt.Sprint("packet-", i), int64(100*(i%4+1)))
			s.say(ctx, fmt.Sprint("text-", i))
			if id != "" && i%4 == 3 {
				s.revoke(ctx, id)
			}
			if !pause(ctx) {
				return
			}
		}
	})
	all.Wait()
	<-ctx.Done()
}

// pause lets some time pass, and tells whether the play goes on.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(50 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// grabAll grabs at every packet that the person hears of. Every fourth packet is left to the first person
// alone, so that it runs out of time.
func (s *scene) grabAll(ctx context.Context, i int, c *client) {
	seen := 0
	for pause(ctx) {
		c.mu.Lock()
		entries := c.heard["room:"+s.room][seen:]
		c.mu.Unlock()
		seen += len(entries)
		for _, e := range entries {
			var p wire.Packet
			if e.Kind == "packet" && json.Unmarshal(e.Body, &p) == nil && (i == 0 || p.Total%400 != 200) {
				s.grab(ctx, c, p.ID)
			}
		}
	}
}

// send asks once, and gives the packet's id if the answer came.
func (s *scene) send(ctx context.Context, key string, total int64) (id string) {
	request := wire.SendPacketRequest{Room: s.room, Key: key, Total: total, Count: new(s.count), TTLS: &s.ttl}
	reply, err := ask[wire.SendPacketReply](ctx, s.sender, "send_packet", request)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, request)
	if err == nil {
		s.sent[key] = reply
	}
	return reply.Packet.ID
}

func (s *scene) say(ctx context.Context, key string) {
	reply, err := ask[wire.SendReply](ctx, s.sender, "send", wire.SendRequest{Room: s.room, Key: key, Text: key})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.said[key] = reply
	}
}

func (s *scene) grab(ctx context.Context, c *client, packet string) {
	reply, err := ask[wire.GrabReply](ctx, c, "grab", wire.GrabRequest{Packet: packet})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && (reply.Outcome == "won" || reply.Outcome == "already") {
		s.won = append(s.won, told{c, reply})
	}
}

func (s *scene) revoke(ctx context.Context, packet string) {
	_, err := ask[wire.CancelPacketReply](ctx, s.sender, "cancel_packet", wire.CancelPacketRequest{Packet: packet})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.cancel[packet] = true
	}
}

// after is what must hold when whatever happened is over.
func (s *scene) after() {
	s.t.Helper()
	s.restarted = time.Now()
	s.repeat()
	s.ended()
	s.stored()
}

// acknowledged is how many grabs, texts and packets were answered so far.
func (s *scene) acknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.won) + len(s.said) + len(s.sent)
}

// watchBooks looks at the books again and again, until the test ends: at every moment they must balance.
func (s *scene) watchBooks() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	looks := 0
	go func() {
		defer close(ended)
		for pause(ctx) {
			report, err := s.node.tryBooks()
			if err != nil {
				continue // Postgres is away
			}
			looks++
			for _, d := range report.Differences {
				s.t.Errorf("in the midst of it the books differ: %s %s: %s", d.Kind, d.ID, d.What)
			}
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		if looks < 5 {
			s.t.Errorf("the books were looked at %d times only", looks)
		}
	})
}

// repeat sends every request again, as clients do who did not hear. What was answered before is answered
// the same; the rest is done now.
func (s *scene) repeat() {
	s.t.Helper()
	for _, request := range s.asked {
		reply := must[wire.SendPacketReply](s.sender, "send_packet", request)
		before, answered := s.sent[request.Key]
		if answered && (!reply.Dup || reply.Packet.ID != before.Packet.ID || reply.Seq != before.Seq) {
			s.t.Errorf("packet %s was acknowledged as %s, seq %d; asked again: %+v", request.Key, before.Packet.ID, before.Seq, reply)
		}
		s.sent[request.Key] = reply
	}
	for key, before := range s.said {
		reply := must[wire.SendReply](s.sender, "send", wire.SendRequest{Room: s.room, Key: key, Text: key})
		if !reply.Dup || reply.Seq != before.Seq || reply.ID != before.ID {
			s.t.Errorf("%s was acknowledged as %+v; asked again: %+v", key, before, reply)
		}
	}
	for _, w := range s.won {
		reply := must[wire.GrabReply](w.by, "grab", wire.GrabRequest{Packet: w.reply.Packet})
		if reply.Outcome != "already" || reply.Amount != w.reply.Amount || reply.Rank != w.reply.Rank {
			s.t.Errorf("%s was told %+v; asked again: %+v", w.by.user.Name, w.reply, reply)
		}
	}
}

// ended waits until every packet is closed, which must be soon after its deadline.
func (s *scene) ended() {
	s.t.Helper()
	var latest int64
	for _, p := range s.sent {
		latest = max(latest, p.Packet.ExpiresAt)
	}
	eventually(s.t, max(0, time.Until(time.UnixMilli(latest)))+10*time.Second, "all packets are closed", func() bool {
		open := 0
		for _, l := range s.node.books().Lines {
			if l.Status == "open" {
				open++
			}
		}
		return open == 0
	})
	s.node.mustBalance()
}

// stored compares the journal with what the server has.
func (s *scene) stored() {
	s.t.Helper()
	paid := map[string]bool{}
	for key, p := range s.sent {
		book := must[wire.PacketReply](s.sender, "packet", wire.PacketRequest{Packet: p.Packet.ID})
		for _, c := range book.Claims {
			paid[fmt.Sprint(p.Packet.ID, c.User.ID, c.Rank, c.Amount)] = true
		}
		if s.cancel[p.Packet.ID] && book.State.Status != "cancelled" {
			s.t.Errorf("packet %s was told to be cancelled, and is %s", key, book.State.Status)
		}
	}
	for _, w := range s.won {
		if !paid[fmt.Sprint(w.reply.Packet, w.by.user.ID, w.reply.Rank, w.reply.Amount)] {
			s.t.Errorf("%s was told %+v, which is not stored", w.by.user.Name, w.reply)
		}
	}
	s.inHistory()
	for _, c := range append(s.grabbers, s.sender) {
		c.mustBeInOrder()
	}
}

// inHistory reads the room from its start: all that was acknowledged is there, and every packet ended in time.
func (s *scene) inHistory() {
	s.t.Helper()
	bySeq := map[int64]wire.Entry{}
	ends := map[string]int64{}
	for after, more := int64(0), true; more; {
		page := must[wire.HistoryReply](s.sender, "history", wire.HistoryRequest{Room: s.room, After: &after, Limit: 100})
		for _, e := range page.Entries {
			after = e.Seq
			bySeq[e.Seq] = e
			var done wire.PacketDoneBody
			if e.Kind == "packet_done" && json.Unmarshal(e.Body, &done) == nil {
				ends[done.Packet] = e.At
			}
		}
		more = page.More
	}
	for key, p := range s.sent {
		if e := bySeq[p.Seq]; e.Kind != "packet" || e.Key != key {
			s.t.Errorf("packet %s was acknowledged as entry %d, which is %s %s", key, p.Seq, e.Kind, e.Key)
		}
		limit := max(p.Packet.ExpiresAt, s.restarted.UnixMilli()) + 5000
		if end := ends[p.Packet.ID]; end == 0 || end > limit {
			s.t.Errorf("packet %s ended at %d, which is not by %d", key, end, limit)
		}
	}
	for key, m := range s.said {
		if e := bySeq[m.Seq]; e.Key != key || e.ID != m.ID {
			s.t.Errorf("text %s was acknowledged as entry %d, which is %s", key, m.Seq, e.Key)
		}
	}
}
