package pgstore

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// locksFreeWithin is how long the locks of a stopped client may last: the promised 2 s, and a margin for a busy
// machine. The locks of a client that is not noticed last for ever.
const locksFreeWithin = 10 * time.Second

// stoppedClient has two stores on the same rows. The client of one stops at a chosen message; the other then needs
// the rows.
type stoppedClient struct {
	*testing.T
	stops, other *Store
	proxy        *loopback.PostgresProxy
	life         *storetest.Life
	calls        int
	freeWithin   time.Duration // how long the locks of the stopped client may last
}

// TestLocksOfAStoppedClient freezes a client, or cuts it off, after each message of a transaction and in the middle
// of each. Its locks must be free within locksFreeWithin.
func TestLocksOfAStoppedClient(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	bounce := bouncer(t)
	direct := func(database string) string { return database }
	var all sync.WaitGroup
	for way, through := range map[string]func(string) string{"direct": direct, "PgBouncer": bounce} {
		for kind, call := range writingCalls {
			all.Go(func() {
				t.Run(way+"/"+kind, func(t *testing.T) { newStoppedClient(t, through).stopEverywhere(call) })
			})
		}
	}
	all.Wait()
}

// TestLocksOfADisconnectedClient cuts a client off in the middle of a transaction. The other store's call for the same rows must succeed.
func TestLocksOfADisconnectedClient(t *testing.T) {
	t.Parallel()
	c := newStoppedClient(t, func(database string) string { return database })
	c.freeWithin = time.Minute // make nightly tests the promised time
	if !c.stopAfter(2, loopback.Cut, writingCalls["append"]) {
		t.Error("the client was not cut off: the proxy does not see its messages")
	}
	wantBalanced(t, c.other)
}

func newStoppedClient(t *testing.T, through func(database string) string) *stoppedClient {
	t.Helper()
	database := migratedDatabase(t)
	at, err := url.Parse(through(database))
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := loopback.StartPostgresProxy(at.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	at.Host = proxy.Addr()
	c := &stoppedClient{T: t, freeWithin: locksFreeWithin, other: openStore(t, database), stops: openStore(t, at.String()), proxy: proxy}
	c.life = fundedRoom(t, c.other)
	_, _, err = c.other.Join(t.Context(), chat.Joining{Room: room, User: "u1", At: c.life.At, MaxRooms: 9, MaxMembers: 9})
	c.life.Must(err)
	return c
}

// stopEverywhere repeats the call. Each time the client stops one message later, until the call ends before the stop.
func (c *stoppedClient) stopEverywhere(call writingCall) {
	for _, how := range []loopback.Stop{loopback.Freeze, loopback.Half, loopback.Cut} {
		first := 1
		if how == loopback.Half {
			first = 0
		}
		for messages := first; c.stopAfter(messages, how, call); messages++ {
		}
	}
	if c.calls < 6 {
		c.Errorf("the client was stopped %d times: the proxy does not see its messages", c.calls)
	}
	if a, err := c.other.Audit(c.Context(), nil); err != nil || len(a.Differences) > 0 {
		c.Errorf("%+v, %v", a, err)
	}
}

// stopAfter makes a call whose client stops after this many messages, and then a call by the other store for the same
// rows. It reports whether the first call reached the stop.
func (c *stoppedClient) stopAfter(messages int, how loopback.Stop, call writingCall) bool {
	c.calls++
	mine, others := call(c, 2*c.calls), call(c, 2*c.calls+1)
	stopped := c.proxy.StopAfter(messages, "begin isolation level read committed", how)
	done := make(chan error, 1)
	go func() { done <- mine(c.stops) }()
	var err error
	ended := false
	select {
	case <-stopped:
	case err = <-done:
		ended = true
	}
	reached := false
	select {
	case <-stopped: // also if the call ended at the same moment: it repeats what was cut off
		reached = true
		began := time.Now()
		err := others(c.other)
		for errors.Is(err, chat.ErrUnavailable) && time.Since(began) < c.freeWithin {
			err = others(c.other)
		}
		if err != nil || time.Since(began) > c.freeWithin {
			c.Errorf("%s after %d messages: the other store's call took %v, %v", how, messages, time.Since(began), err)
		}
	default:
	}
	c.proxy.Resume()
	if !ended {
		err = <-done
	}
	if err != nil && !(reached && errors.Is(err, chat.ErrUnavailable)) {
		c.Errorf("%s after %d messages: %v", how, messages, err)
	}
	if err := c.stops.pool.Await(c.Context()); err != nil {
		c.Error(err)
	}
	return reached
}

// writingCall prepares the n-th call of one kind. All calls of a kind need the same rows.
type writingCall func(c *stoppedClient, n int) func(s *Store) error

var writingCalls = map[string]writingCall{
	"append": func(c *stoppedClient, n int) func(s *Store) error {
		return func(s *Store) error {
			_, _, err := s.Append(c.Context(), textDraft(n))
			return err
		}
	},
	"adjust": func(c *stoppedClient, n int) func(s *Store) error {
		key := fmt.Sprint("adjust-", n)
		return func(s *Store) error {
			_, _, err := s.Adjust(c.Context(), redpacket.Adjustment{ID: key, User: "owner", Amount: 1, Key: key, Hash: []byte(key), At: c.life.At})
			return err
		}
	},
	"send": func(c *stoppedClient, n int) func(s *Store) error {
		return func(s *Store) error {
			id := fmt.Sprint("packet-", n)
			_, err := s.Send(c.Context(), redpacket.UnsealedPacket{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal,
					Total: 10, Count: 10, CreatedAt: c.life.At, ExpiresAt: c.life.At.Add(time.Hour), Key: id},
				Hash: []byte(id), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
			})
			return err
		}
	},
	"settle": func(c *stoppedClient, n int) func(s *Store) error { // all calls need the same wallet
		p := c.life.Send("owner", fmt.Sprint("packet-", n), redpacket.Equal, "", 10, 10)
		return func(s *Store) error {
			settled := s.Settle(c.Context(), []redpacket.Claim{{Ref: p.Ref, User: "u1", At: c.life.At, Entry: "e-" + p.ID}})
			if settled[0].Verdict != redpacket.PaidNow {
				return errors.Join(fmt.Errorf("settled %+v", settled), settled[0].Err)
			}
			return nil
		}
	},
	"end": func(c *stoppedClient, n int) func(s *Store) error { // all calls need the same packet
		id := fmt.Sprint("packet-", n/2)
		if n%2 == 0 {
			c.life.Send("owner", id, redpacket.Equal, "", 10, 10)
		}
		return func(s *Store) error {
			_, err := s.End(c.Context(), redpacket.Close{Ref: redpacket.Ref{ID: id}, Reason: redpacket.Expired, At: c.life.At,
				EntryID: fmt.Sprint("done-", n), Grants: []redpacket.Grant{{User: "u1", Share: 1}}})
			return err
		}
	},
	"amend": func(c *stoppedClient, n int) func(s *Store) error {
		e, _, err := c.other.Append(c.Context(), textDraft(n))
		c.life.Must(err)
		return func(s *Store) error {
			_, err := s.Amend(c.Context(), chat.Amendment{Kind: chat.KindReact, Room: room, Target: e.Seq, By: chat.User{ID: "u1"},
				Emoji: "福", On: true, At: c.life.At, ID: fmt.Sprint("react-", n), Window: time.Hour})
			return err
		}
	},
	"change": func(c *stoppedClient, n int) func(s *Store) error {
		name := fmt.Sprint("name ", n)
		return func(s *Store) error {
			_, err := s.Change(c.Context(), chat.Change{Kind: chat.UpdateRoom, Room: room, By: chat.User{ID: "owner"}, At: c.life.At,
				To: chat.RoomChange{Name: &name}, EntryIDs: []string{fmt.Sprint("change-a-", n), fmt.Sprint("change-b-", n)}, MaxRooms: 9, MaxMembers: 9})
			return err
		}
	},
	"read": func(c *stoppedClient, n int) func(s *Store) error {
		e, _, err := c.other.Append(c.Context(), textDraft(n))
		c.life.Must(err)
		return func(s *Store) error {
			_, err := s.Read(c.Context(), room, "u1", e.Seq, time.Now())
			return err
		}
	},
}
