package schemes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// conduct is a scheme and what its author promises of it.
type conduct struct {
	make func(t *testing.T) Scheme
	// What the article's code answers to one who has a share, to one who comes too late, and for a packet that
	// was never opened.
	already, gone, unknown Verdict
	cut                    bool // pays the shares it is given; else equal ones of the same sum
}

func conducts() map[string]conduct {
	return map[string]conduct{
		"lua-list": {
			make:    func(t *testing.T) Scheme { return NewLuaList(newRedis(t), newDatabase(t)) },
			already: Nothing, gone: Nothing, unknown: Nothing, cut: true, // nil, whatever the reason
		},
		"pessimistic": {
			make:    func(t *testing.T) Scheme { return NewPessimistic(newDatabase(t)) },
			already: Already, gone: Gone, unknown: Unknown,
		},
	}
}

// TestConduct shows that each scheme does what its author says it does, when nothing goes wrong.
func TestConduct(t *testing.T) {
	for name, c := range conducts() {
		t.Run(name, func(t *testing.T) {
			t.Run("crowd", c.crowd)
			t.Run("answers", c.answers)
			t.Run("packets are apart", c.apart)
		})
	}
}

// crowd has 90 people grab 50 shares at once, twice each.
func (c conduct) crowd(t *testing.T) {
	s := running(t, c.make(t))
	p := packet("crowd", 50)
	must(t, s.Open(t.Context(), p))
	paid := map[string]int64{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 180 {
		all.Go(func() {
			user := fmt.Sprintf("u%d", i%90)
			a, err := s.Grab(t.Context(), p.ID, user)
			mu.Lock()
			defer mu.Unlock()
			switch _, twice := paid[user]; {
			case err != nil:
				t.Errorf("%s: %v", user, err)
			case a.Verdict != Got && a.Verdict != c.already && a.Verdict != c.gone:
				t.Errorf("%s hears %q", user, a.Verdict)
			case a.Verdict != Got && a.Amount != 0:
				t.Errorf("%s hears %q and gets %d", user, a.Verdict, a.Amount)
			case a.Verdict == Got && twice:
				t.Errorf("%s has two shares", user)
			case a.Verdict == Got:
				paid[user] = a.Amount
			}
		})
	}
	all.Wait()
	if len(paid) != len(p.Shares) {
		t.Errorf("%d shares are given, of %d", len(paid), len(p.Shares))
	}
	c.compare(t, s, p, paid)
}

// compare waits until the database has what was told, and no more.
func (c conduct) compare(t *testing.T, s Scheme, p Packet, told map[string]int64) {
	t.Helper()
	b := stored(t, s, p.ID, len(told))
	sum, amounts := b.Left, map[int64]int{}
	for _, paid := range b.Paid {
		if told[paid.User] != paid.Amount {
			t.Errorf("%s was told %d, %d is stored", paid.User, told[paid.User], paid.Amount)
		}
		sum += paid.Amount
		amounts[paid.Amount]++
	}
	if sum != p.Total() || b.Refunded != 0 {
		t.Errorf("%d of %d are paid or left, %d refunded", sum, p.Total(), b.Refunded)
	}
	if c.cut {
		for _, share := range p.Shares {
			amounts[share]--
		}
		for amount, n := range amounts {
			if n > 0 {
				t.Errorf("%d shares of %d that nobody cut", n, amount)
			}
		}
	}
}

// answers are those of the article's code.
func (c conduct) answers(t *testing.T) {
	s := running(t, c.make(t))
	p := packet("answers", 2)
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

// apart has the same people grab two packets.
func (c conduct) apart(t *testing.T) {
	s := running(t, c.make(t))
	one, two := packet("one", 3), packet("two", 3)
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

// packet of shares that all differ.
func packet(id string, shares int) Packet {
	p := Packet{ID: id, Sender: "sender", TTL: time.Hour}
	for i := range shares {
		p.Shares = append(p.Shares, int64(100+i))
	}
	return p
}

// running drives the scheme until the test ends.
func running(t *testing.T, s Scheme) Scheme {
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); run.Wait() })
	return s
}

// stored is the packet's book as soon as it holds so many grabs.
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
		time.Sleep(5 * time.Millisecond) // a table tells nobody when it changes
	}
}

func newRedis(t *testing.T) *redis.Client {
	o, err := redis.ParseURL(storetest.SharedRedis(t).URL())
	must(t, err)
	c := redis.NewClient(o)
	must(t, c.FlushAll(t.Context()).Err())
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func newDatabase(t *testing.T) *Database {
	db, err := Connect(t.Context(), storetest.Database(t), 8)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	must(t, db.MakeTables(t.Context()))
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
