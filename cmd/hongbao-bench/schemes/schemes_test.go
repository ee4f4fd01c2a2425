package schemes

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// behaviour is what the author of a scheme says that it does.
type behaviour struct {
	// Answers of the article's code: to a user with a share, to a grab when no share is left, and for a packet that
	// was never opened.
	already, gone, unknown Verdict
	cut                    bool // pays the given shares; otherwise it cuts the same sum by itself
	equal                  bool // cuts equal shares
	shares                 int  // of the crowd's packet
	unit                   int64
}

func behaviours() map[string]behaviour {
	plain := behaviour{already: Already, gone: Gone, unknown: Unknown, equal: true, shares: 50, unit: 1}
	queue := plain
	queue.unknown = Gone // an empty list and a missing list are the same
	return map[string]behaviour{
		// Few pieces with much money; otherwise it jams.
		"lua-split": {already: Already, gone: Gone, unknown: Unknown, shares: 8, unit: 2_000_000},
		// The script returns nil for every reason.
		"lua-list":    {already: Nothing, gone: Nothing, unknown: Nothing, cut: true, shares: 50, unit: 1},
		"lock":        plain,
		"optimistic":  plain,
		"pessimistic": plain,
		"prealloc":    plain,
		"redis-queue": queue, "redis-queue-async": queue,
	}
}

// TestBehaviour checks that each scheme does what its author promises, when nothing fails.
func TestBehaviour(t *testing.T) {
	enginetest.Nightly(t, "bench")
	all := behaviours()
	for _, n := range All() {
		c, ok := all[n.Name]
		if !ok || n.From == "" || n.Decides == "" || n.Stores == "" {
			t.Errorf("no behaviour is listed for %+v", n)
			continue
		}
		delete(all, n.Name)
		t.Run(n.Name, func(t *testing.T) {
			t.Run("crowd", func(t *testing.T) { c.crowd(t, n) })
			t.Run("answers", func(t *testing.T) { c.answers(t, n) })
			t.Run("packets are separate", func(t *testing.T) { c.separate(t, n) })
			t.Run("data survives a takeover", func(t *testing.T) { c.takeover(t, n) })
		})
	}
	if len(all) > 0 {
		t.Errorf("behaviours of unknown schemes: %v", all)
	}
}

// crowd lets nearly twice as many users as there are shares grab at once, each twice.
func (c behaviour) crowd(t *testing.T, n Named) {
	s := start(t, n, newEngines(t))
	p := c.packet("crowd", c.shares)
	must(t, s.Open(t.Context(), p))
	paid, people := map[string]int64{}, 9*c.shares/5
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 2 * people {
		all.Go(func() {
			user := fmt.Sprintf("u%d", i%people)
			a, err := s.Grab(t.Context(), p.ID, user)
			mu.Lock()
			defer mu.Unlock()
			switch _, twice := paid[user]; {
			case err != nil:
				t.Errorf("%s: %v", user, err)
			case a.Verdict == GaveUp: // the user tries again below
			case a.Verdict != Got && a.Verdict != c.already && a.Verdict != c.gone:
				t.Errorf("%s got the answer %q", user, a.Verdict)
			case a.Verdict != Got && a.Amount != 0:
				t.Errorf("%s got the answer %q with %d", user, a.Verdict, a.Amount)
			case a.Verdict == Got && twice:
				t.Errorf("%s has two shares", user)
			case a.Verdict == Got:
				paid[user] = a.Amount
			}
		})
	}
	all.Wait()
	for i := 0; len(paid) < len(p.Shares) && i < people; i++ { // the users that gave up, now one after the other
		user := fmt.Sprintf("u%d", i)
		if a, err := s.Grab(t.Context(), p.ID, user); err == nil && a.Verdict == Got {
			paid[user] = a.Amount
		}
	}
	if len(paid) != len(p.Shares) {
		t.Errorf("%d shares are paid, want %d", len(paid), len(p.Shares))
	}
	c.compare(t, s, p, paid)
}

// compare waits until the database has exactly the answered shares.
func (c behaviour) compare(t *testing.T, s Scheme, p Packet, told map[string]int64) {
	t.Helper()
	b := stored(t, s, p.ID, len(told))
	sum, amounts := b.Left, map[int64]int{}
	for _, paid := range b.Paid {
		if told[paid.User] != paid.Amount {
			t.Errorf("%s got the answer %d, %d is stored", paid.User, told[paid.User], paid.Amount)
		}
		sum += paid.Amount
		amounts[paid.Amount]++
	}
	if sum != p.Total() || b.Refunded != 0 {
		t.Errorf("%d of %d are paid or left, %d refunded", sum, p.Total(), b.Refunded)
	}
	least, most := int64(1), p.Total()
	if c.equal {
		least = p.Total() / int64(len(p.Shares))
		most = least + 1
	}
	for amount := range amounts {
		if amount < least || amount > most {
			t.Errorf("a share of %d, want %d to %d", amount, least, most)
		}
	}
	if c.cut {
		for _, share := range p.Shares {
			amounts[share]--
		}
		for amount, n := range amounts {
			if n > 0 {
				t.Errorf("%d shares of %d were not cut", n, amount)
			}
		}
	}
}

// answers checks the answers of the article's code.
func (c behaviour) answers(t *testing.T, n Named) {
	s := start(t, n, newEngines(t))
	p := c.packet("answers", 2)
	must(t, s.Open(t.Context(), p))
	told := map[string]int64{}
	for i, want := range []struct {
		user    string
		verdict Verdict
	}{{"ann", Got}, {"ann", c.already}, {"bob", Got}, {"cyd", c.gone}, {"bob", c.already}} {
		a, err := s.Grab(t.Context(), p.ID, want.user)
		if err != nil || a.Verdict != want.verdict {
			t.Errorf("grab %d, by %s: %+v, %v; want %q", i, want.user, a, err, want.verdict)
		}
		if a.Verdict == Got {
			told[want.user] = a.Amount
		}
	}
	c.compare(t, s, p, told)
	if a, err := s.Grab(t.Context(), "no-such-packet", "ann"); err != nil || a.Verdict != c.unknown {
		t.Errorf("an unknown packet: %+v, %v; want %q", a, err, c.unknown)
	}
	if b, err := s.Stored(t.Context(), "no-such-packet"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the book of an unknown packet: %+v, %v", b, err)
	}
}

// separate lets the same users grab two packets.
func (c behaviour) separate(t *testing.T, n Named) {
	s := start(t, n, newEngines(t))
	one, two := c.packet("one", 3), c.packet("two", 3)
	must(t, s.Open(t.Context(), one))
	must(t, s.Open(t.Context(), two))
	for _, p := range []Packet{one, two} {
		told := map[string]int64{}
		for _, user := range []string{"ann", "bob"} {
			a, err := s.Grab(t.Context(), p.ID, user)
			if err != nil || a.Verdict != Got || a.Amount < 1 {
				t.Errorf("%s of %s: %+v, %v", user, p.ID, a, err)
			}
			told[user] = a.Amount
		}
		c.compare(t, s, p, told)
		if b := stored(t, s, p.ID, 2); b.Left == 0 {
			t.Errorf("%s: nothing is left of three shares", p.ID)
		}
	}
}

// takeover stops one process in good order, and another one continues with its data.
func (c behaviour) takeover(t *testing.T, n Named) {
	e := newEngines(t)
	first, err := n.Start(t.Context(), e)
	must(t, err)
	p := c.packet("goes-on", 3)
	must(t, first.Open(t.Context(), p))
	told := map[string]int64{}
	grab := func(s Scheme, user string) {
		a, err := s.Grab(t.Context(), p.ID, user)
		if err != nil || a.Verdict != Got {
			t.Errorf("%s: %+v, %v", user, a, err)
		}
		told[user] = a.Amount
	}
	grab(first, "ann")
	stored(t, first, p.ID, 1)
	must(t, first.Stop())
	second := start(t, n, e)
	grab(second, "bob")
	grab(second, "cyd")
	if a, err := second.Grab(t.Context(), p.ID, "ann"); err != nil || a.Verdict != c.already {
		t.Errorf("ann again: %+v, %v; want %q", a, err, c.already)
	}
	c.compare(t, second, p, told)
}

// packet returns a packet of shares that all differ.
func (c behaviour) packet(id string, shares int) Packet {
	p := Packet{ID: id, Sender: "sender", TTL: time.Hour}
	for i := range shares {
		p.Shares = append(p.Shares, int64(100+i)*c.unit)
	}
	return p
}

// start runs the scheme until the test ends.
func start(t *testing.T, n Named, e Engines) *Instance {
	i, err := n.Start(t.Context(), e)
	must(t, err)
	t.Cleanup(func() { must(t, i.Stop()) })
	return i
}

// stored returns the packet's book as soon as it has so many grabs.
func stored(t *testing.T, s Scheme, id string, grabs int) Book {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		b, err := s.Stored(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Paid) >= grabs || time.Now().After(deadline) {
			if len(b.Paid) != grabs {
				t.Errorf("%s: %d grabs are stored, want %d", id, len(b.Paid), grabs)
			}
			return b
		}
		time.Sleep(5 * time.Millisecond) // sleeps: a table does not announce changes
	}
}

// newEngines returns an empty Redis and a database of its own.
func newEngines(t *testing.T) Engines {
	e := Engines{RedisURL: storetest.SharedRedis(t).URL()}
	o, err := redis.ParseURL(e.RedisURL)
	must(t, err)
	c := redis.NewClient(o)
	must(t, c.FlushAll(t.Context()).Err())
	t.Cleanup(func() { must(t, c.Close()) })
	e.Redis = c
	e.DB, err = Connect(t.Context(), storetest.Database(t), 8)
	must(t, err)
	t.Cleanup(func() { must(t, e.DB.Close()) })
	must(t, e.DB.MakeTables(t.Context()))
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
