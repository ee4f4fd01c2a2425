package load

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScheduleIsKept blocks one request. Its delay must be in its latency, and no other request may be delayed.
func TestScheduleIsKept(t *testing.T) { synctest.Test(t, scheduleIsKept) }

func scheduleIsKept(t *testing.T) {
	const held = 200 * time.Millisecond
	s := newSchedule(time.Now(), 1000, 100*time.Millisecond)
	if s.n != 100 {
		t.Fatalf("%d requests", s.n)
	}
	var mu sync.Mutex
	late := make([]time.Duration, s.n)
	var others sync.WaitGroup // the requests of the other pacers
	others.Add(s.n - s.n/pacers)
	sent := make(chan struct{})
	go func() { others.Wait(); close(sent) }()
	s.follow(t.Context(), func(i int, due time.Time) {
		if want := s.begin.Add(time.Duration(i) * time.Millisecond); !due.Equal(want) {
			t.Errorf("request %d is due at %v, want %v", i, due, want)
		}
		if i%pacers != 0 {
			others.Done()
		} else if i == 0 {
			<-sent // if one request delays all, the bubble reports a deadlock
			time.Sleep(time.Until(due.Add(held)))
		}
		mu.Lock()
		defer mu.Unlock()
		late[i] = time.Since(due)
	})
	for i := range late {
		rest := held - time.Duration(i)*time.Millisecond // what is left of the delay when this request is due
		if i%pacers == 0 && late[i] < rest {
			t.Errorf("delayed request %d counts %v, want %v", i, late[i], rest)
		}
	}
}

func TestChaseEnds(t *testing.T) {
	var mu sync.Mutex
	sent := map[int]int{}
	closedLoop(t.Context(), 3, time.Minute, func(i int, _ time.Time, answered func()) bool {
		if i >= 50 {
			return false
		}
		mu.Lock()
		sent[i]++
		mu.Unlock()
		go answered()
		return true
	})
	for i := range 50 {
		if sent[i] != 1 {
			t.Errorf("request %d was sent %d times", i, sent[i])
		}
	}
	began := time.Now()
	closedLoop(t.Context(), 2, 50*time.Millisecond, func(_ int, _ time.Time, answered func()) bool {
		go answered()
		return true
	})
	if took := time.Since(began); took < 50*time.Millisecond || took > 10*time.Second {
		t.Errorf("50 ms took %v", took)
	}
}

// TestEachUserGrabsEachPacketOnce checks the order of grabs: no user may grab a packet twice, or a packet of another
// room.
func TestEachUserGrabsEachPacketOnce(t *testing.T) {
	for _, p := range []Plan{
		{Users: 30, Packets: 1, Rate: 100, Duration: time.Second}, {Users: 30, Packets: 7, Closed: true}, {Users: 30, Packets: 7}, {Users: 32, Packets: 7, RoomSize: 7},
	} {
		rooms := 1
		if p.RoomSize > 0 {
			rooms = 5
		}
		c := &group{plan: p, rooms: make([]*room, rooms), users: make([]*user, p.Users), packetLogs: make([]*packetLog, p.packets())}
		for i := range c.users {
			c.users[i] = &user{number: i}
		}
		for i := range c.packetLogs {
			c.packetLogs[i] = &packetLog{count: i, owner: c.sender(i)}
		}
		type pair struct {
			*user
			*packetLog
		}
		seen := map[pair]bool{}
		for i := range len(c.packetLogs) * c.grabbers() {
			u, p := c.place(i)
			seen[pair{u, p}] = true
			if u.number%rooms != p.count%rooms || p.owner.number%rooms != p.count%rooms {
				t.Errorf("user %d grabs packet %d of user %d, there are %d rooms", u.number, p.count, p.owner.number, rooms)
			}
		}
		if len(seen) != len(c.packetLogs)*c.grabbers() {
			t.Errorf("%+v: only %d different grabs", p, len(seen))
		}
	}
}

func TestKeysCarryTheDueTime(t *testing.T) {
	c := &group{run: "abc", epoch: time.Now()}
	due := c.epoch.Add(1234567 * time.Microsecond)
	if got, ok := c.dueOf(c.timedKey(7, due)); !ok || !got.Equal(due) {
		t.Errorf("%v, %v", got, due)
	}
	if _, ok := c.dueOf([]byte("other.7.8")); ok {
		t.Error("a key of another run was read")
	}
}

func TestSeries(t *testing.T) {
	s := newSeries("x")
	for i := range 1000 {
		s.note(time.Duration(i+1) * time.Millisecond)
	}
	f := figures("x", s.all(), 10*time.Second)
	if f.Count != 1000 || f.PerSecond != 100 || f.At(50) < 499*time.Millisecond || f.At(50) > 502*time.Millisecond || f.Max < 999 {
		t.Errorf("%+v", f)
	}
	s.note(time.Hour)
	if h := s.all(); h.TotalCount() != 1001 || milliseconds(h.Max()) < 119_000 {
		t.Errorf("the longest time is recorded as %v", h.Max())
	}
	s.clear()
	if n := s.all().TotalCount(); n != 0 {
		t.Errorf("%d after all was cleared", n)
	}
}

func TestBottleneck(t *testing.T) {
	part := func(name string, cores float64) Part { return Part{Name: name, Cores: cores} }
	for want, parts := range map[string][]Part{
		"unknown":          nil,
		"server takes":     {part("generator", 0.5), part("server", 1.2), part("redis", 0.2)},
		"redis: its":       {part("generator", 0.2), part("server", 0.2), part("redis", 0.95)},
		"none: 0.30":       {part("generator", 0.1), part("server", 0.2)},
		"other processes:": {part("server", 0.2), {Name: "everything else", Cores: 1.7, byOthers: true}},
	} {
		if got := bottleneck(parts, 2); !strings.Contains(got, want) {
			t.Errorf("%v: %s", parts, got)
		}
	}
}

// TestProcesses starts a process with children. The CPU time of living and of ended children must be counted.
func TestProcesses(t *testing.T) {
	if _, known := machine(); !known {
		t.Skip("this system has no /proc")
	}
	const work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
	cmd := exec.Command("sh", "-c", "("+work+"); ("+work+"; echo done; read wait); exit 0") // one child has ended, one lives
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	if _, err := out.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	p := Process{Name: "shell", PID: cmd.Process.Pid}
	if p.Worked() < tick || p.Resident() == 0 {
		t.Errorf("the shell used %v of CPU time and %d bytes", p.Worked(), p.Resident())
	}
	if s, err := readStat(p.PID); err != nil || s.parent != os.Getpid() || s.children < tick || p.Worked() < s.worked+s.children+tick {
		t.Errorf("%+v, %v, of %v", s, err, p.Worked())
	}
	if h := ThisMachine(); h.Cores < 1 || h.Memory == 0 || h.System == "" || !strings.HasPrefix(h.Go, "go") {
		t.Errorf("%+v", h)
	}
}

// TestOperations checks which operation CPU times are divided by, for each kind of load.
func TestOperations(t *testing.T) {
	for scenario, want := range map[string]float64{"grab": 3, "chat": 4, "storm": 5, "idle": 20} {
		c := &group{plan: Plan{Scenario: scenario}, runStats: newRunStats(), users: make([]*user, 10)}
		for s, n := range map[*series]int{c.runStats.won: 2, c.runStats.notWon: 1, c.runStats.delivered: 4, c.runStats.reconnects: 5, c.runStats.sent: 9} {
			for range n {
				s.note(time.Millisecond)
			}
		}
		if name, n := c.operations(2 * time.Second); name == "" || n != want {
			t.Errorf("%s: %v of %q, want %v", scenario, n, name, want)
		}
	}
	p := Part{Cores: 0.5}
	if p.each(0, time.Second); p.Micros != 0 {
		t.Errorf("no operations: %v µs each", p.Micros)
	}
	if p.each(1000, 2*time.Second); p.Micros != 1000 {
		t.Errorf("half a core for two seconds, a thousand times: %v µs each", p.Micros)
	}
}

func TestEnoughFiles(t *testing.T) {
	if err := enoughFiles(10); err != nil {
		t.Error(err)
	}
	if err := enoughFiles(1 << 40); err == nil || !strings.Contains(err.Error(), "ulimit") {
		t.Error(err)
	}
}
