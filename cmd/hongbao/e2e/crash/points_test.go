package crash

import (
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

// TestCrashPoints lets the program kill itself at every named step while clients send, grab, cancel and let packets expire.
// After a restart all that clients were told is stored, and nothing is stuck.
func TestCrashPoints(t *testing.T) {
	t.Parallel() // it mostly waits, as all tests here
	atEachPoint(t, 9, crashAt, "grab.after-pool", "settle.after-commit", "close.before-commit")
}

// TestScaledCrashPoints is TestCrashPoints with three servers over one Redis and one Postgres. One of them kills itself and
// stays dead; the others must finish its work.
func TestScaledCrashPoints(t *testing.T) {
	t.Parallel()
	atEachPoint(t, 6, scaledCrashAt, "settle.after-commit")
}

// atEachPoint runs a test for each crash point, and in make test only for the usual ones. Several run at once: each waits for deadlines
// most of the time.
func atEachPoint(t *testing.T, atOnce int, crash func(t *testing.T, binary, point string), usual ...string) {
	points := usual
	if enginetest.Tonight("crash") {
		points = crashpoint.Points
	}
	binary := e2e.Build(t, "crashpoints")
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, point := range points {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(point, func(t *testing.T) { crash(t, binary, point) })
		})
	}
	all.Wait()
}

func crashAt(t *testing.T, binary, point string) {
	w := newWorkload(t)
	variables := w.crashVariables(point)
	first := e2e.Start(t, binary, t.TempDir(), e2e.FreeAddress(t))
	w.prepare(first)
	first.Kill()
	dying := first.RestartWith(variables...)
	w.run(dying.Exited(), e2e.Limit(30*time.Second))
	if !dying.KilledItself() {
		e2e.TooSlow(t, "the server should have killed itself at %s, and is alive or ended otherwise", point)
	}
	w.server = first.Restart()
	w.check()
}

func scaledCrashAt(t *testing.T, binary, point string) {
	w := newWorkload(t)
	variables := w.crashVariables(point)
	c := e2e.StartCluster(t, binary, storetest.Redis(t), storetest.Database(t), nil, nil)
	others := c.Servers
	w.prepare(c.Front())
	dying := c.Add(variables...)
	thaw := func() {}
	switch {
	case strings.HasPrefix(point, "recover."): // otherwise the others might recover the lost claim first
		c.Balancer.Only(dying)
		thaw = e2e.Freeze(t, others...)
	case strings.HasPrefix(point, "send."), strings.HasPrefix(point, "delete."): // the only sender must be on the dying server
		c.Balancer.Only(dying)
	default: // half of the clients are on the dying server
		c.Balancer.Only(dying, others[0])
	}
	c.Balancer.Cut(1)
	w.run(dying.Exited(), e2e.Limit(40*time.Second))
	if !dying.KilledItself() {
		e2e.TooSlow(t, "one of the servers should have killed itself at %s, and is alive or ended otherwise", point)
	}
	thaw()
	c.Balancer.Only(others...)
	w.check()
}

// crashVariables returns the variables that make a server kill itself at the point, and adapts the workload so that the server
// comes there.
func (w *workload) crashVariables(point string) []string {
	variables := []string{"HONGBAO_CRASH_AT=" + point}
	if strings.HasPrefix(point, "recover.") {
		// A claim is lost between pool and SQL, in a packet that is neither drained nor expired before recovery finds it.
		variables = append(variables, "HONGBAO_LOSE_AT=grab.after-pool")
		w.ttl, w.count = 12, 9
	}
	w.deletes = strings.HasPrefix(point, "delete.")
	return variables
}
