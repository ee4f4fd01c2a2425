package load

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScheduleIsKept: one who is held up pays for it, and the others do not wait for him.
func TestScheduleIsKept(t *testing.T) {
	const held = 200 * time.Millisecond
	s := newSchedule(time.Now(), 1000, 100*time.Millisecond)
	if s.n != 100 {
		t.Fatalf("%d requests", s.n)
	}
	var mu sync.Mutex
	late := make([]time.Duration, s.n)
	s.follow(t.Context(), func(i int, due time.Time) {
		if want := s.begin.Add(time.Duration(i) * time.Millisecond); !due.Equal(want) {
			t.Errorf("request %d is due at %v, want %v", i, due, want)
		}
		if i == 0 {
			time.Sleep(held)
		}
		mu.Lock()
		defer mu.Unlock()
		late[i] = time.Since(due)
	})
	for i := range late {
		rest := held - time.Duration(i)*time.Millisecond // what is left of it when the request is due
		if i%pacers == 0 && late[i] < rest {
			t.Errorf("request %d, which was held up, counts %v, not %v", i, late[i], rest)
		}
	}
	if late[1] >= held && late[2] >= held && late[3] >= held {
		t.Errorf("one has held up all: %v", late[1:4])
	}
}

func TestChaseEnds(t *testing.T) {
	var mu sync.Mutex
	said := map[int]int{}
	chase(t.Context(), 3, time.Minute, func(i int, _ time.Time, answered func()) bool {
		if i >= 50 {
			return false
		}
		mu.Lock()
		said[i]++
		mu.Unlock()
		go answered()
		return true
	})
	for i := range 50 {
		if said[i] != 1 {
			t.Errorf("request %d was said %d times", i, said[i])
		}
	}
	began := time.Now()
	chase(t.Context(), 2, 50*time.Millisecond, func(_ int, _ time.Time, answered func()) bool {
		go answered()
		return true
	})
	if took := time.Since(began); took < 50*time.Millisecond || took > 10*time.Second {
		t.Errorf("50 ms took %v", took)
	}
}

// TestWhoGrabsWhat: nobody grabs a packet twice, or one of another room, however they are laid out.
func TestWhoGrabsWhat(t *testing.T) {
	for _, p := range []Plan{
		{Users: 30, Packets: 1, Rate: 100, Duration: time.Second}, {Users: 30, Packets: 7, Closed: true}, {Users: 30, Packets: 7}, {Users: 32, Packets: 7, RoomSize: 7},
	} {
		rooms := 1
		if p.RoomSize > 0 {
			rooms = 5
		}
		c := &crew{plan: p, rooms: make([]*room, rooms), users: make([]*user, p.Users), pots: make([]*pot, p.packets())}
		for i := range c.users {
			c.users[i] = &user{number: i}
		}
		for i := range c.pots {
			c.pots[i] = &pot{count: i, owner: c.sender(i)}
		}
		type pair struct {
			*user
			*pot
		}
		seen := map[pair]bool{}
		for i := range len(c.pots) * c.grabbers() {
			u, p := c.place(i)
			seen[pair{u, p}] = true
			if u.number%rooms != p.count%rooms || p.owner.number%rooms != p.count%rooms {
				t.Errorf("user %d grabs packet %d of user %d, there are %d rooms", u.number, p.count, p.owner.number, rooms)
			}
		}
		if len(seen) != len(c.pots)*c.grabbers() {
			t.Errorf("%+v: only %d different grabs", p, len(seen))
		}
	}
}

func TestKeysTellWhenTheyWereDue(t *testing.T) {
	c := &crew{run: "abc", epoch: time.Now()}
	due := c.epoch.Add(1234567 * time.Microsecond)
	if got, ok := c.dueOf(c.timedKey(7, due)); !ok || !got.Equal(due) {
		t.Errorf("%v, %v", got, due)
	}
	if _, ok := c.dueOf([]byte("other.7.8")); ok {
		t.Error("the key of another run")
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
	if n := s.recent().TotalCount(); n != 1000 {
		t.Errorf("%d lately", n)
	}
	s.note(time.Hour)
	if h := s.recent(); h.TotalCount() != 1 || milliseconds(h.Max()) < 119_000 {
		t.Errorf("what takes longer than can be told: %v", h.Max())
	}
	s.clear()
	if n := s.all().TotalCount(); n != 0 {
		t.Errorf("%d after all was cleared", n)
	}
}

func TestBottleneck(t *testing.T) {
	part := func(name string, cores float64) Part { return Part{Name: name, Cores: cores} }
	for want, parts := range map[string][]Part{
		"unknown":       nil,
		"server takes":  {part("generator", 0.5), part("server", 1.2), part("redis", 0.2)},
		"redis: its":    {part("generator", 0.2), part("server", 0.2), part("redis", 0.95)},
		"none: 0.30":    {part("generator", 0.1), part("server", 0.2)},
		"none of ours:": {part("server", 0.2), {Name: "everything else", Cores: 1.7, byOthers: true}},
	} {
		if got := bottleneck(parts, 2); !strings.Contains(got, want) {
			t.Errorf("%v: %s", parts, got)
		}
	}
}

// TestProcesses: what a child works is counted, while it lives and when it has ended.
func TestProcesses(t *testing.T) {
	if _, known := machine(); !known {
		t.Skip("there is no /proc here")
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
		t.Errorf("the shell has worked for %v, with %d bytes", p.Worked(), p.Resident())
	}
	if s, err := readStat(p.PID); err != nil || s.parent != os.Getpid() || s.children < tick || p.Worked() < s.worked+s.children+tick {
		t.Errorf("%+v, %v, of %v", s, err, p.Worked())
	}
	if h := ThisMachine(); h.Cores < 1 || h.Memory == 0 || h.System == "" || !strings.HasPrefix(h.Go, "go") {
		t.Errorf("%+v", h)
	}
}

// TestOperations: what a part takes is told for one of what the load is made of.
func TestOperations(t *testing.T) {
	for scenario, want := range map[string]float64{"grab": 3, "chat": 4, "storm": 5, "idle": 20} {
		c := &crew{plan: Plan{Scenario: scenario}, board: newBoard(), users: make([]*user, 10)}
		for s, n := range map[*series]int{c.board.won: 2, c.board.sorry: 1, c.board.delivered: 4, c.board.back: 5, c.board.sent: 9} {
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
		t.Errorf("of nothing each takes %v", p.Micros)
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
