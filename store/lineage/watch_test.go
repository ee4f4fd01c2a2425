package lineage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// database is a database that a test moves to other servers. Its rows are marks.
type database struct {
	mu     sync.Mutex
	state  State
	rows   []Mark
	renews int
	broken error
	read   func() // called once, after the state was read and before it is returned; nil: nothing
}

// storeOf is one instance's Store over a database.
type storeOf struct {
	*database
	recent Recent
	served string
	cached bool // something is cached
}

func (d *database) State(context.Context) (State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read != nil {
		d.read()
		d.read = nil
	}
	return d.state, d.broken
}

func (d *database) Missing(_ context.Context, marks []Mark) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range marks {
		if !slices.Contains(d.rows, m) {
			n++
		}
	}
	return n, d.broken
}

func (d *database) Accept(_ context.Context, read State) (State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == read {
		d.state.Stored = d.state.Identity
	}
	return d.state, d.broken
}

func (d *database) Renew(_ context.Context, read State) (State, *Renewed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.Epoch != read.Epoch || d.state.Identity != read.Identity {
		return d.state, nil, d.broken
	}
	d.renews++
	d.state.Epoch, d.state.Stored = fmt.Sprint("epoch ", d.renews), d.state.Identity
	return d.state, &Renewed{Epoch: d.state.Epoch}, d.broken
}

// moveTo makes another server answer, which has the first rows only.
func (d *database) moveTo(identity string, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Identity, d.rows = identity, d.rows[:rows]
}

// become gives the database another state.
func (d *database) become(st State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = st
}

func (s *storeOf) OnLoss(func(string))   {}
func (s *storeOf) Serve(identity string) { s.served = identity }
func (s *storeOf) Recent() *Recent       { return &s.recent }
func (s *storeOf) ForgetCached()         { s.cached = false }

// commit writes a row.
func (s *storeOf) commit(no int64) {
	m := Mark{Chain: 1, Link: no}
	s.mu.Lock()
	s.rows = append(s.rows, m)
	s.mu.Unlock()
	s.recent.Add(s.recent.Begin(), m)
}

// memoryNotes is Notes in memory.
type memoryNotes struct {
	mu     sync.Mutex
	notes  map[string]Note
	broken error
}

func (n *memoryNotes) Save(_ context.Context, instance string, note Note) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken == nil {
		n.notes[instance] = note
	}
	return n.broken
}

func (n *memoryNotes) Load(context.Context) (list []Note, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range n.notes {
		list = append(list, note)
	}
	return list, n.broken
}

func (n *memoryNotes) lose(broken error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = broken
	clear(n.notes)
}

// system is instances over one database.
type system struct {
	t     *testing.T
	db    *database
	notes *memoryNotes
}

func newSystem(t *testing.T) *system {
	return &system{t: t, db: &database{state: State{Identity: "first", Epoch: "epoch 0"}}, notes: &memoryNotes{notes: map[string]Note{}}}
}

// watched is one instance.
type watched struct {
	*Watch
	store   *storeOf
	changes []string // what Changed was told
	changed func()   // called once, while Changed runs; nil: nothing
	stop    func()
}

// start starts an instance and runs it until stop or the end of the test.
func (s *system) start(name string) *watched {
	s.t.Helper()
	w := &watched{store: &storeOf{database: s.db}}
	w.Watch = New(Options{
		Store: w.store, Notes: s.notes, Instance: name, Back: func() {}, Log: slog.New(slog.DiscardHandler),
		Changed: func(epoch string, renewed bool) {
			w.changes = append(w.changes, fmt.Sprint(epoch, " ", renewed))
			if changed := w.changed; changed != nil {
				w.changed = nil
				changed()
			}
		},
	})
	if err := w.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	w.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	s.t.Cleanup(w.stop)
	return w
}

// mustBe fails the test unless the instance was told these changes, and serves the present server.
func (s *system) mustBe(w *watched, changes ...string) {
	s.t.Helper()
	synctest.Wait()
	if !slices.Equal(w.changes, changes) {
		s.t.Errorf("%s was told the changes %q, want %q", w.o.Instance, w.changes, changes)
	}
	if w.store.served != s.db.state.Identity || w.epoch != s.db.state.Epoch || s.db.state.Stored != s.db.state.Identity {
		s.t.Errorf("%s serves %q in %q; the database is %+v", w.o.Instance, w.store.served, w.epoch, s.db.state)
	}
}

func TestEpochs(t *testing.T) {
	for name, test := range map[string]func(s *system){
		"a promotion without loss keeps the epoch": func(s *system) {
			one, two := s.start("one"), s.start("two")
			one.store.commit(1)
			two.store.commit(2)
			s.db.moveTo("second", 2)
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 0 false")
			s.mustBe(two, "epoch 0 false")
		},
		"a loss that one instance knows begins one epoch for all": func(s *system) {
			one, two, three := s.start("one"), s.start("two"), s.start("three")
			one.store.commit(1)
			two.store.commit(2)
			s.db.moveTo("second", 1)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for _, w := range []*watched{one, two, three} {
				if last := w.changes[len(w.changes)-1]; last != "epoch 1 true" {
					s.t.Errorf("%s was told %q, want the new epoch at last", w.o.Instance, w.changes)
				}
			}
			if s.db.renews != 1 {
				s.t.Errorf("%d epochs have begun, want 1", s.db.renews)
			}
		},
		"a loss that only a note knows": func(s *system) {
			dead := s.start("dead")
			dead.store.commit(1)
			dead.stop() // it has saved its note
			one := s.start("one")
			s.db.moveTo("second", 0)
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true")
		},
		"an instance keeps the notes that were lost since it started": func(s *system) {
			dead := s.start("dead")
			dead.store.commit(1)
			dead.stop()
			one := s.start("one")
			s.notes.lose(nil)
			time.Sleep(3 * time.Second)
			s.db.moveTo("second", 0)
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true")
		},
		"a start on another server, with and without loss": func(s *system) {
			one := s.start("one")
			one.store.commit(1)
			one.stop()
			s.db.moveTo("second", 1)
			two := s.start("two")
			s.mustBe(two)
			two.store.commit(2)
			two.stop()
			s.db.moveTo("third", 1)
			s.mustBe(s.start("three"), "epoch 1 true")
		},
		"a start on another server without notes": func(s *system) {
			s.start("one").stop()
			s.notes.lose(nil)
			s.db.moveTo("second", 0)
			s.mustBe(s.start("two"), "epoch 1 true")
		},
		"a start on another server while the notes cannot be read": func(s *system) {
			s.start("one").stop()
			s.notes.lose(errors.New("no answer"))
			s.db.moveTo("second", 0)
			began := time.Now()
			two := s.start("two")
			if waited := time.Since(began); waited < notesPatience || waited > 2*notesPatience {
				s.t.Errorf("waited %v for the notes, want about %v", waited, notesPatience)
			}
			s.mustBe(two, "epoch 1 true")
		},
		"the first start stores the identity": func(s *system) { s.mustBe(s.start("one")) },
		"a backup with an older epoch": func(s *system) {
			one := s.start("one")
			one.Lost("for the test")
			time.Sleep(2 * time.Second)
			s.mustBe(one, "epoch 1 true")
			s.db.become(State{Identity: "restored", Stored: "first", Epoch: "epoch 0"})
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true", "epoch 2 true")
		},
		"an operator begins an epoch": func(s *system) {
			one := s.start("one")
			read, _ := s.db.State(s.t.Context())
			_, _, _ = s.db.Renew(s.t.Context(), read)
			time.Sleep(2 * time.Second)
			s.mustBe(one, "epoch 1 true")
		},
		"a loss that is noticed while the epoch after it is adopted": func(s *system) {
			one := s.start("one")
			read, _ := s.db.State(s.t.Context())
			_, _, _ = s.db.Renew(s.t.Context(), read)
			s.db.mu.Lock()
			s.db.read = func() { one.Lost("a transaction found it before the epoch was adopted") }
			s.db.mu.Unlock()
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true")
		},
		"a loss that is noticed while the sockets of the earlier epoch are closed": func(s *system) {
			one := s.start("one")
			one.changed = func() { one.Lost("a transaction of the new epoch found it") }
			one.Lost("for the test")
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true", "epoch 2 true")
		},
		"commits of an earlier epoch are not missed": func(s *system) {
			one := s.start("one")
			one.store.commit(1)
			before := one.store.recent.Begin()
			s.db.moveTo("second", 0)
			time.Sleep(3 * time.Second)
			one.store.recent.Add(before, Mark{Chain: 1, Link: 1}) // its transaction had begun on the first server
			s.db.moveTo("third", 0)
			time.Sleep(3 * time.Second)
			s.mustBe(one, "epoch 1 true", "epoch 1 false")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newSystem(t)) })
		})
	}
}

// TestRecentKeepsTheNewest adds more commits than are kept.
func TestRecentKeepsTheNewest(t *testing.T) {
	var r Recent
	for i := range 3 * keptMarks {
		r.Add(r.Begin(), Mark{Link: int64(i)})
	}
	if got := r.List(); len(got) != keptMarks || got[0].Link != 2*keptMarks || got[keptMarks-1].Link != 3*keptMarks-1 {
		t.Errorf("kept %d commits, from %d on; want the newest %d", len(got), got[0].Link, keptMarks)
	}
}
