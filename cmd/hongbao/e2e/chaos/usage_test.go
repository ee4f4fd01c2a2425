package chaos

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// usage is what one instance needs at most.
type usage struct{ goroutines, heap float64 }

// mayBe reports whether usage u is normal after a fault, if it was so before. Connections to Postgres and Redis need a few goroutines
// more, caches fill, and one instance may get all sockets. A socket needs no goroutine.
func (u usage) mayBe(before usage) bool {
	return u.goroutines <= before.goroutines+25 && u.heap <= 2*before.heap+24<<20
}

// checkUsage waits until no instance needs more goroutines and memory than before the first fault.
func (w *world) checkUsage(f *fault) []string {
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		most, err := w.usage()
		switch {
		case err == nil && most.mayBe(w.before):
			f.usage = most
			return nil
		case time.Now().After(deadline):
			return []string{fmt.Sprintf("an instance has %.0f goroutines and %.0f MiB in use; before the first fault at most %.0f and %.0f (%v)",
				most.goroutines, most.heap/(1<<20), w.before.goroutines, w.before.heap/(1<<20), err)}
		}
	}
}

// usage returns the most that any instance needs, after a garbage collection.
func (w *world) usage() (most usage, err error) {
	for _, i := range w.instances {
		if _, _, err := i.current().TryOpsPage("debug/pprof/heap?gc=1"); err != nil {
			return most, err
		}
		_, page, err := i.current().TryOpsPage("metrics")
		if err != nil {
			return most, err
		}
		most.goroutines = max(most.goroutines, metric(page, "go_goroutines"))
		most.heap = max(most.heap, metric(page, "go_memstats_heap_alloc_bytes"))
	}
	return most, nil
}

// metric returns a metric without labels from a page of metrics, or 0.
func metric(page, name string) float64 {
	for lines := bufio.NewScanner(strings.NewReader(page)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, _ := strconv.ParseFloat(text, 64)
			return value
		}
	}
	return 0
}
