package chaos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
)

const (
	shortCrowd = 60
	longCrowd  = 200
	perWorld   = 25 // faults in one world: its tables grow with each
	atOnce     = 6  // kinds at once in the short form
	shown      = 20 // violations of one fault that are printed; the others are in a file
	shortSeed  = 18 // of the short form: it has the same faults each time
)

// TestEachKindOfFault causes each kind of fault once, several at once, and checks the world after each round. TestChaos draws at random.
func TestEachKindOfFault(t *testing.T) {
	enginetest.Nightly(t, "chaos")
	e2e.NoError(t, checkLayout(*layoutName))
	seen := map[string]bool{}
	for _, l := range wanted(*layoutName, *only) {
		list := slices.DeleteFunc(kindsOf(l, *only), func(k kind) bool { return seen[k.name] })
		for _, k := range list {
			seen[k.name] = true
		}
		if len(list) > 0 {
			t.Run(string(l), func(t *testing.T) { causeEach(t, l, list) })
		}
	}
}

// causeEach causes these kinds in a world with this layout of Redis.
func causeEach(t *testing.T, l layout, list []kind) {
	w := newWorld(t.Context(), t, l, shortCrowd)
	able, left := chosen(w, list)
	for _, why := range left {
		t.Log("left out: ", why)
	}
	for n, seed := 1, cmp.Or(*seed, shortSeed); len(able) > 0; n, seed = n+1, next(seed) {
		f := &fault{number: n, seed: seed}
		f.kinds, able = together(able, atOnce)
		f.run(w)
		t.Log(f.line())
		if slices.ContainsFunc(f.wrong, func(what string) bool { return !strings.HasSuffix(what, " ms after its deadline") }) {
			t.Fatal(f.report(shown))
		}
		if len(f.wrong) > 0 {
			e2e.TooSlow(t, "%s", f.report(shown))
		}
	}
}

// together takes up to n kinds that break different parts, and returns the others, too. Parts with many kinds come first: so a few
// rounds are enough for all.
func together(able []kind, n int) (taken, others []kind) {
	left := map[part]int{}
	for _, k := range able {
		left[k.part]++
	}
	first := map[part]bool{}
	for _, p := range slices.SortedFunc(maps.Keys(left), func(a, b part) int { return cmp.Or(left[b]-left[a], strings.Compare(string(a), string(b))) }) {
		first[p] = len(first) < n
	}
	for _, k := range able {
		if first[k.part] {
			taken, first[k.part] = append(taken, k), false
		} else {
			others = append(others, k)
		}
	}
	return taken, others
}

// TestChaos causes random faults for -chaos.hours, and checks the world after each. `make chaos` runs it. Each world ends after some
// faults, or after one with a violation.
func TestChaos(t *testing.T) {
	if *hours == 0 {
		t.Skip("needs -chaos.hours: make chaos HOURS=1")
	}
	e2e.NoError(t, checkLayout(*layoutName))
	able := wanted(*layoutName, *only)
	if len(able) == 0 {
		t.Fatalf("no kind of fault of this layout has %q in its name", *only)
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithTimeout(stopped, time.Duration(*hours*float64(time.Hour)))
	defer cancel()
	s := &summary{began: time.Now(), out: t.Output(), seed: cmp.Or(*seed, rand.Uint64()), kinds: map[string]int{}, left: map[string]bool{}}
	s.say("the first seed is %d", s.seed)
	for ctx.Err() == nil {
		t.Run(fmt.Sprint("from seed ", s.seed), func(t *testing.T) { s.liveWorld(ctx, t, drawLayout(s.seed, able)) })
	}
	s.print(interrupted(ctx))
}

// liveWorld causes faults in one world.
func (s *summary) liveWorld(ctx context.Context, t *testing.T, l layout) {
	w := newWorld(ctx, t, l, longCrowd)
	able, left := chosen(w, kindsOf(l, *only))
	s.worlds++
	s.say("a world with the layout of Redis: %s", l)
	for _, why := range left {
		if !s.left[why] {
			s.say("left out: %s", why)
		}
		s.left[why] = true
	}
	if len(able) == 0 {
		t.Fatalf("this machine can cause no kind of fault with %q in its name", *only)
	}
	for range perWorld {
		f := &fault{number: s.faults + 1, seed: s.seed, kinds: draw(s.seed, able)}
		f.run(w)
		if ctx.Err() != nil {
			return // the fault was interrupted
		}
		s.add(f)
		if len(f.wrong) == 0 {
			continue
		}
		again := fmt.Sprintf("make chaos HOURS=%g SEED=%d LAYOUT=%s ONLY='%s'", *hours, f.seed, l, *only)
		logs := "-chaos.out names no folder"
		if *folder != "" {
			logs = filepath.Join(*folder, fmt.Sprint(f.seed))
			if err := w.keepLogs(logs, f); err != nil {
				t.Error(err)
			}
		}
		t.Errorf("%slogs: %s\nbegin with this fault again: %s", f.report(shown), logs, again)
		return
	}
}
