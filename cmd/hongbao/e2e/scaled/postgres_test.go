package scaled

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledPostgresRestarted kills Postgres while users of three servers send texts and packets and grab. Every request is
// answered within 5 s, and each that is repeated until it succeeds takes effect once.
func TestScaledPostgresRestarted(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	postgres := storetest.Postgres(t)
	database, err := postgres.NewDatabase(t.Context())
	e2e.NoError(t, err)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, e2e.Three()...)
	o := newOutage(t, cluster)
	end := o.begin()
	o.awaitEach("has 10 requests that succeeded", 10, func(r *retrier) int { return int(r.successes.Load()) })

	postgres.Kill()
	killed := time.Now()
	o.awaitEach("was answered unavailable 3 times", 3, func(r *retrier) int { return int(r.refusals.Load()) })
	for _, s := range cluster.Servers {
		e2e.Eventually(t, 10*time.Second, "/readyz of "+s.URL.Host+" is 503", func() bool {
			status, _ := s.Ready()
			return status == http.StatusServiceUnavailable
		})
	}
	t.Logf("all requests are refused and no server is ready %v after Postgres was killed", time.Since(killed).Round(time.Millisecond))
	time.Sleep(time.Until(killed.Add(6 * time.Second))) // longer than a request may take
	e2e.NoError(t, postgres.Restart(context.Background()))

	back := time.Now()
	for _, r := range o.retriers {
		r.successes.Store(0)
	}
	o.awaitEach("has 10 more requests that succeeded", 10, func(r *retrier) int { return int(r.successes.Load()) })
	t.Logf("each user has 10 successes %v after Postgres is back", time.Since(back).Round(time.Millisecond))
	end()
	o.checkOnce()
	cluster.Front().MustBalance()
}

// outage is a room with users on each server that send one request after the other.
type outage struct {
	t        *testing.T
	room     string
	retriers []*retrier
	packets  []string // to grab at
}

// retrier is a user that repeats each request until it succeeds.
type retrier struct {
	*e2e.Client
	request             func(n int) error // sends the nth request
	successes, refusals atomic.Int64

	// owned by the goroutine of run until it has ended
	done    int
	slowest time.Duration // until an answer came, success or refusal
	wrong   []error       // answers that are neither
	texts   []wire.SendReply
	sent    []wire.SendPacketReply
	won     []wire.GrabReply
}

// packetsToGrab is how many packets there are to grab at.
const packetsToGrab = 200

func newOutage(t *testing.T, cluster *e2e.Cluster) *outage {
	t.Helper()
	o := &outage{t: t}
	owner := e2e.Connect(t, cluster.Servers[0], cluster.Servers[0].Guest("owner"), false)
	o.room = e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: "outage", Name: "outage", Kind: "public"}).Room.ID
	for n := range packetsToGrab {
		reply := e2e.Call[wire.SendPacketReply](owner, "send_packet", wire.SendPacketRequest{
			Room: o.room, Key: fmt.Sprint("to-grab-", n), Mode: "equal", Total: 3, Count: new(len(cluster.Servers)),
		})
		o.packets = append(o.packets, reply.Packet.ID)
	}
	for _, s := range cluster.Servers {
		speaker, sender, grabber := o.addUser(s, "speaker"), o.addUser(s, "sender"), o.addUser(s, "grabber")
		speaker.request = func(n int) error { return tryOnce(speaker, &speaker.texts, "send", o.textRequest(n)) }
		sender.request = func(n int) error { return tryOnce(sender, &sender.sent, "send_packet", o.packetRequest(n)) }
		grabber.request = func(n int) error {
			return tryOnce(grabber, &grabber.won, "grab", wire.GrabRequest{Packet: o.packets[n%packetsToGrab]})
		}
	}
	return o
}

func (o *outage) addUser(s *e2e.Server, name string) *retrier {
	o.t.Helper()
	r := &retrier{Client: e2e.Connect(o.t, s, s.Guest(name), false)}
	e2e.Call[wire.JoinReply](r.Client, "join", wire.JoinRequest{Room: o.room})
	o.retriers = append(o.retriers, r)
	return r
}

func (o *outage) textRequest(n int) wire.SendRequest {
	key := fmt.Sprint("text-", n)
	return wire.SendRequest{Room: o.room, Key: key, Text: key}
}

func (o *outage) packetRequest(n int) wire.SendPacketRequest {
	return wire.SendPacketRequest{Room: o.room, Key: fmt.Sprint("packet-", n), Total: 10, Count: new(2)}
}

// tryOnce sends a request once, and keeps the reply.
func tryOnce[Reply any](r *retrier, replies *[]Reply, method string, request any) error {
	reply, err := e2e.Try[Reply](context.Background(), r.Client, method, request)
	if err == nil {
		*replies = append(*replies, reply)
	}
	return err
}

// begin lets all users send requests. The returned function makes each user stop after its next success.
func (o *outage) begin() (end func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, r := range o.retriers {
		all.Go(func() { r.run(stop) })
	}
	end = sync.OnceFunc(func() { close(stop); all.Wait() })
	o.t.Cleanup(end)
	return end
}

func (r *retrier) run(stop <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for first := time.Now(); ; {
		began := time.Now()
		err := r.request(r.done)
		r.slowest = max(r.slowest, time.Since(began))
		var refused *centrifuge.Error
		switch {
		case err == nil:
			r.done++
			r.successes.Add(1)
			first = time.Now()
		case errors.As(err, &refused) && refused.Code == uint32(wire.CodeUnavailable) && refused.Temporary && time.Since(first) < time.Minute:
			r.refusals.Add(1)
		default:
			r.wrong = append(r.wrong, err)
			return
		}
		<-tick.C
		select {
		case <-stop:
			if err == nil {
				return
			}
		default:
		}
	}
}

// awaitEach waits until a count of every user has reached a number.
func (o *outage) awaitEach(want string, least int, count func(*retrier) int) {
	o.t.Helper()
	e2e.Eventually(o.t, 30*time.Second, "each user "+want, func() bool {
		return !slices.ContainsFunc(o.retriers, func(r *retrier) bool { return count(r) < least })
	})
}

// checkOnce repeats every request, and checks in the room and the wallets that each took effect once.
func (o *outage) checkOnce() {
	o.t.Helper()
	entries := map[string]int{} // in the room, by sender and key
	for _, e := range e2e.History(o.retriers[0].Client, o.room, 0, e2e.All) {
		entries[e.From.ID+" "+e.Key]++
	}
	unheard := 0
	for _, r := range o.retriers {
		name := r.User.Name
		for _, err := range r.wrong {
			o.t.Errorf("%s was answered %v, want success or a temporary %d unavailable", name, err, wire.CodeUnavailable)
		}
		e2e.MustTake(o.t, "the slowest answer to a "+name, r.slowest, 5*time.Second)
		o.t.Logf("%s: %d successes, %d refusals, slowest answer after %v", name, r.done, r.refusals.Load(), r.slowest.Round(time.Millisecond))
		for n, first := range r.texts {
			again := e2e.Call[wire.SendReply](r.Client, "send", o.textRequest(n))
			if stored := entries[r.User.ID+" "+o.textRequest(n).Key]; !again.Dup || again.Seq != first.Seq || again.ID != first.ID || stored != 1 {
				o.t.Errorf("text %d is in the room %d times, want once; it was answered %+v, repeated %+v", n, stored, first, again)
			}
			unheard += countTrue(first.Dup)
		}
		for n, first := range r.sent {
			again := e2e.Call[wire.SendPacketReply](r.Client, "send_packet", o.packetRequest(n))
			if stored := entries[r.User.ID+" "+o.packetRequest(n).Key]; !again.Dup || again.Packet.ID != first.Packet.ID || stored != 1 {
				o.t.Errorf("packet %d is in the room %d times, want once; it was answered %+v, repeated %+v", n, stored, first, again)
			}
			unheard += countTrue(first.Dup)
		}
		for _, first := range r.won {
			again := e2e.Call[wire.GrabReply](r.Client, "grab", wire.GrabRequest{Packet: first.Packet})
			if again.Outcome != "already" || again.Amount != 1 || again.Rank != first.Rank {
				o.t.Errorf("a grab was answered %+v, repeated %+v; want already, amount 1 and the same rank", first, again)
			}
			unheard += countTrue(first.Outcome == "already")
		}
		wallet := e2e.Call[wire.WalletReply](r.Client, "wallet", wire.WalletRequest{})
		if want := 100_000 - 10*int64(len(r.sent)) + int64(min(len(r.won), packetsToGrab)); wallet.Balance != want {
			o.t.Errorf("the balance of a %s is %d, want %d", name, wallet.Balance, want)
		}
		r.MustHaveAll()
	}
	o.t.Logf("%d requests had taken effect before they were answered", unheard)
}

func countTrue(b bool) int {
	if b {
		return 1
	}
	return 0
}
