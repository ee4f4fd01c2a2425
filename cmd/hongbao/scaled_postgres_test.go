package main

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

	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledPostgresRestarted kills Postgres under people who speak, send and grab on three servers. Nobody waits long
// for an answer; and what they ask again, just as it was, until they get it, happens once.
func TestScaledPostgresRestarted(t *testing.T) {
	p := storetest.Postgres(t)
	database, err := p.NewDatabase(t.Context())
	check(t, err)
	i := install(t, build(t, ""), storetest.Redis(t), database, three()...)
	o := newOutage(t, i)
	end := o.begin()
	o.eachGets("has been answered", 10, func(a *asker) int { return int(a.answers.Load()) })

	p.Kill()
	killed := time.Now()
	o.eachGets("is refused again and again", 3, func(a *asker) int { return int(a.refusals.Load()) })
	for _, n := range i.nodes {
		eventually(t, 10*time.Second, "it is not ready", func() bool { return n.ready() == http.StatusServiceUnavailable })
	}
	t.Logf("all is refused, and nobody is ready, %v after Postgres was killed", time.Since(killed).Round(time.Millisecond))
	lasts(time.Until(killed.Add(6 * time.Second))) // longer than anybody may wait for his answer
	check(t, p.Restart(context.Background()))

	back := time.Now()
	for _, a := range o.people {
		a.answers.Store(0)
	}
	o.eachGets("is answered again", 10, func(a *asker) int { return int(a.answers.Load()) })
	t.Logf("each has been answered ten times %v after Postgres is back", time.Since(back).Round(time.Millisecond))
	end()
	o.happenedOnce()
	i.place().mustBalance()
}

// outage is a room with people on each server who ask for one thing after the other.
type outage struct {
	t       *testing.T
	room    string
	people  []*asker
	packets []string // those there are to be grabbed at
}

// asker is a person who asks until he gets an answer.
type asker struct {
	*client
	asks              func(n int) error // for the nth thing
	answers, refusals atomic.Int64

	// owned by who runs it, until it has ended
	done    int
	slowest time.Duration // until an answer came, whatever it said
	wrong   []error       // answers that should not have been given
	texts   []wire.SendReply
	sent    []wire.SendPacketReply
	won     []wire.GrabReply
}

// toGrab is how many packets there are to be grabbed at.
const toGrab = 200

func newOutage(t *testing.T, i *installation) *outage {
	t.Helper()
	o := &outage{t: t}
	host := connect(t, i.nodes[0], i.nodes[0].guest("host"), false)
	o.room = must[wire.CreateRoomReply](host, "create_room", wire.CreateRoomRequest{Key: "outage", Name: "outage"}).Room.ID
	for n := range toGrab {
		reply := must[wire.SendPacketReply](host, "send_packet", wire.SendPacketRequest{
			Room: o.room, Key: fmt.Sprint("host-", n), Mode: "equal", Total: 3, Count: new(len(i.nodes)),
		})
		o.packets = append(o.packets, reply.Packet.ID)
	}
	for _, n := range i.nodes {
		speaker, sender, grabber := o.enters(n, "speaker"), o.enters(n, "sender"), o.enters(n, "grabber")
		speaker.asks = func(n int) error { return once(speaker, &speaker.texts, "send", o.text(n)) }
		sender.asks = func(n int) error { return once(sender, &sender.sent, "send_packet", o.money(n)) }
		grabber.asks = func(n int) error {
			return once(grabber, &grabber.won, "grab", wire.GrabRequest{Packet: o.packets[n%toGrab]})
		}
	}
	return o
}

func (o *outage) enters(n *node, name string) *asker {
	o.t.Helper()
	a := &asker{client: connect(o.t, n, n.guest(name), false)}
	must[wire.JoinReply](a.client, "join", wire.JoinRequest{Room: o.room})
	o.people = append(o.people, a)
	return a
}

func (o *outage) text(n int) wire.SendRequest {
	key := fmt.Sprint("text-", n)
	return wire.SendRequest{Room: o.room, Key: key, Text: key}
}

func (o *outage) money(n int) wire.SendPacketRequest {
	return wire.SendPacketRequest{Room: o.room, Key: fmt.Sprint("packet-", n), Total: 10, Count: new(2)}
}

// once asks once, and keeps the reply.
func once[Reply any](a *asker, replies *[]Reply, method string, request any) error {
	reply, err := ask[Reply](context.Background(), a.client, method, request)
	if err == nil {
		*replies = append(*replies, reply)
	}
	return err
}

// begin has everybody ask, until it is ended: then each gets his last answer yet.
func (o *outage) begin() (end func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for _, a := range o.people {
		all.Go(func() { a.run(over) })
	}
	end = sync.OnceFunc(func() { close(over); all.Wait() })
	o.t.Cleanup(end)
	return end
}

func (a *asker) run(over <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for first := time.Now(); ; {
		began := time.Now()
		err := a.asks(a.done)
		a.slowest = max(a.slowest, time.Since(began))
		var refused *centrifuge.Error
		switch {
		case err == nil:
			a.done++
			a.answers.Add(1)
			first = time.Now()
		case errors.As(err, &refused) && refused.Code == uint32(wire.CodeUnavailable) && refused.Temporary && time.Since(first) < time.Minute:
			a.refusals.Add(1)
		default:
			a.wrong = append(a.wrong, err)
			return
		}
		<-tick.C
		select {
		case <-over:
			if err == nil {
				return
			}
		default:
		}
	}
}

// eachGets waits until something has happened so many times to everybody.
func (o *outage) eachGets(what string, times int, count func(*asker) int) {
	o.t.Helper()
	eventually(o.t, 30*time.Second, "everybody "+what, func() bool {
		return !slices.ContainsFunc(o.people, func(a *asker) bool { return count(a) < times })
	})
}

// happenedOnce repeats every request, and looks into the books whether each was done once.
func (o *outage) happenedOnce() {
	o.t.Helper()
	keys := map[string]int{} // of entries in the room, with their senders
	for _, e := range historyOf(o.people[0].client, o.room, 0, 1<<40) {
		keys[e.From.ID+" "+e.Key]++
	}
	unheard := 0
	for _, a := range o.people {
		for _, err := range a.wrong {
			o.t.Errorf("%s was answered: %v", a.user.Name, err)
		}
		mustTake(o.t, "the slowest answer to a "+a.user.Name, a.slowest, 5*time.Second)
		o.t.Logf("%s: %d things done, refused %d times, slowest answer after %v",
			a.user.Name, a.done, a.refusals.Load(), a.slowest.Round(time.Millisecond))
		for n, first := range a.texts {
			again := must[wire.SendReply](a.client, "send", o.text(n))
			if !again.Dup || again.Seq != first.Seq || again.ID != first.ID || keys[a.user.ID+" "+o.text(n).Key] != 1 {
				o.t.Errorf("text %d is in the room %d times, was answered %+v, then %+v", n, keys[a.user.ID+" "+o.text(n).Key], first, again)
			}
			unheard += btoi(first.Dup)
		}
		for n, first := range a.sent {
			again := must[wire.SendPacketReply](a.client, "send_packet", o.money(n))
			if !again.Dup || again.Packet.ID != first.Packet.ID || keys[a.user.ID+" "+o.money(n).Key] != 1 {
				o.t.Errorf("packet %d is in the room %d times, was answered %+v, then %+v", n, keys[a.user.ID+" "+o.money(n).Key], first, again)
			}
			unheard += btoi(first.Dup)
		}
		for _, first := range a.won {
			again := must[wire.GrabReply](a.client, "grab", wire.GrabRequest{Packet: first.Packet})
			if again.Outcome != "already" || again.Amount != 1 || again.Rank != first.Rank {
				o.t.Errorf("a grab was answered %+v, then %+v", first, again)
			}
			unheard += btoi(first.Outcome == "already")
		}
		wallet := must[wire.WalletReply](a.client, "wallet", wire.WalletRequest{})
		if want := 100_000 - 10*int64(len(a.sent)) + int64(min(len(a.won), toGrab)); wallet.Balance != want {
			o.t.Errorf("%s has %d, want %d", a.user.Name, wallet.Balance, want)
		}
		a.mustBeInOrder()
	}
	o.t.Logf("%d things had been done before their answer came", unheard)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
