package chat

import (
	"strconv"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int](4 * cacheShards)
	for i := range 100 * cacheShards {
		at := seat{user: strconv.Itoa(i)}
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
	k := seat{"room", "user"}
	_, loading, _ := c.get(k)
	c.drop(k)
	c.put(k, "old", loading)
	if v, _, ok := c.get(k); ok {
		t.Errorf("%q was loaded before the drop, but is kept", v)
	}
	// Two writers at once: nobody knows whose write was the last, so neither's value stays.
	one, two := c.drop(k), c.drop(k)
	c.put(k, "two", two)
	c.put(k, "one", one)
	if v, _, ok := c.get(k); ok {
		t.Errorf("%q is kept of two that overlapped", v)
	}
}

// TestCacheForesees: what was loaded without knowing whose it would be is kept only if nothing has changed meanwhile.
func TestCacheForesees(t *testing.T) {
	c := newCache[string](cacheShards)
	k, other := seat{"room", "user"}, seat{"room", "other"}
	for name, change := range map[string]func(){
		"his own": func() { c.drop(k) }, "another's": func() { c.drop(other) }, "everybody's": c.clear,
		"deafness": func() { c.rest(true); c.rest(false) },
	} {
		changes := c.changes()
		change()
		c.foresee(k, "old", changes)
		if v, _, ok := c.get(k); ok {
			t.Errorf("%s change: %q was loaded before, but is kept", name, v)
		}
	}
	c.foresee(k, "new", c.changes())
	c.foresee(k, "newer", c.changes())
	if v, _, ok := c.get(k); !ok || v != "new" {
		t.Errorf("%q, %v is kept, not what was there first", v, ok)
	}
	for i := range 100 * cacheShards {
		c.foresee(seat{"room", strconv.Itoa(i)}, "many", c.changes())
	}
	if v, _, ok := c.get(k); !ok || v != "new" {
		t.Errorf("%q, %v: pushed out by who may be asked for", v, ok)
	}
}

func TestCacheHitDoesNotAllocate(t *testing.T) {
	c := newCache[Standing](cacheShards)
	at := seat{"room-" + strconv.Itoa(1), "user-" + strconv.Itoa(2)}
	_, version, _ := c.get(at)
	c.put(at, Standing{Ever: true}, version)
	if n := testing.AllocsPerRun(100, func() { c.get(at) }); n != 0 {
		t.Errorf("a hit makes %v allocations", n)
	}
}
