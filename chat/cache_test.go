package chat

import (
	"strconv"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int](4 * cacheShards)
	for i := range 100 * cacheShards {
		at := memberKey{user: strconv.Itoa(i)}
		_, version, _ := c.get(at)
		c.put(at, i, version)
		if got, _, ok := c.get(at); !ok || got != i {
			t.Fatalf("%d is not there right after it was put", i)
		}
	}
	held := 0
	for i := range c.shards {
		held += len(c.shards[i].values)
	}
	if held != 4*cacheShards {
		t.Errorf("%d values held, want all of %d places filled", held, 4*cacheShards)
	}
}

func TestCacheForgetsWhatChangedMeanwhile(t *testing.T) {
	c := newCache[string](cacheShards)
	k := memberKey{"room", "user"}
	_, loading, _ := c.get(k)
	c.drop(k)
	c.put(k, "old", loading)
	if v, _, ok := c.get(k); ok {
		t.Errorf("%q was loaded before the drop, but is kept", v)
	}
	// Two writers at the same time: it is unknown which write was the last, so the values of both must be dropped.
	one, two := c.drop(k), c.drop(k)
	c.put(k, "two", two)
	c.put(k, "one", one)
	if v, _, ok := c.get(k); ok {
		t.Errorf("%q is kept of two that overlapped", v)
	}
}

// TestPutIfUnchanged reads values before their keys are known. Such a value must be kept only if nothing was dropped
// meanwhile.
func TestPutIfUnchanged(t *testing.T) {
	c := newCache[string](cacheShards)
	k, other := memberKey{"room", "user"}, memberKey{"room", "other"}
	for name, change := range map[string]func(){
		"its own": func() { c.drop(k) }, "another user's": func() { c.drop(other) }, "all": c.clear,
		"disconnected": func() { c.setIdle(true); c.setIdle(false) },
	} {
		changes := c.changes()
		change()
		c.putIfUnchanged(k, "old", changes)
		if v, _, ok := c.get(k); ok {
			t.Errorf("%s change: %q was loaded before, but is kept", name, v)
		}
	}
	c.putIfUnchanged(k, "new", c.changes())
	c.putIfUnchanged(k, "newer", c.changes())
	if v, _, ok := c.get(k); !ok || v != "new" {
		t.Errorf("%q, %v is kept, not what was there first", v, ok)
	}
	for i := range 100 * cacheShards {
		c.putIfUnchanged(memberKey{"room", strconv.Itoa(i)}, "many", c.changes())
	}
	if v, _, ok := c.get(k); !ok || v != "new" {
		t.Errorf("%q, %v: replaced by a value that was only added in advance", v, ok)
	}
}

func TestCacheHitDoesNotAllocate(t *testing.T) {
	c := newCache[Standing](cacheShards)
	at := memberKey{"room-" + strconv.Itoa(1), "user-" + strconv.Itoa(2)}
	_, version, _ := c.get(at)
	c.put(at, Standing{Ever: true}, version)
	if n := testing.AllocsPerRun(100, func() { c.get(at) }); n != 0 {
		t.Errorf("a hit makes %v allocations", n)
	}
}

// TestForgettingAUserEndsTheStandings forgets a user, while a standing is cached and while one is being read. Neither may be used.
func TestForgettingAUserEndsTheStandings(t *testing.T) {
	s := New(nil, nil, Options{})
	one, two := memberKey{"one", "user"}, memberKey{"two", "user"}
	put := func(k memberKey, changes uint64) {
		_, version, _ := s.standings.get(k)
		s.standings.put(k, heldStanding{Standing{Ever: true, In: true}, s.now().Add(standingFor), changes}, version)
	}
	before := s.userChanges.of("user").Load()
	put(one, before)
	if _, ok := s.CachedStanding("one", "user"); !ok {
		t.Fatal("nothing is cached")
	}
	s.Forget("", "user")
	put(two, before)
	for _, room := range []string{"one", "two"} {
		if _, ok := s.CachedStanding(room, "user"); ok {
			t.Errorf("the standing in room %s is used", room)
		}
	}
	put(one, s.userChanges.of("user").Load())
	if _, ok := s.CachedStanding("one", "user"); !ok {
		t.Error("nothing is cached any more")
	}
}
