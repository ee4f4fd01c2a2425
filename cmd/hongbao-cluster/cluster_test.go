package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

// TestCluster runs the built program. A text that is sent to one instance must be received from another, also after a
// third was killed. After a stop no process and no file may be left.
func TestCluster(t *testing.T) {
	enginetest.Need(t, "Redis and Postgres")
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "hongbao/cmd/hongbao", "hongbao/cmd/hongbao-cluster").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c := startCluster(t, bin)
	speaker, listener := c.guest(0, "Mei"), c.guest(2, "Lan")
	var room wire.CreateRoomReply
	c.command(0, speaker, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}, &room)
	c.command(2, listener, "join", wire.JoinRequest{Room: room.Room.ID}, nil)
	received := c.listen(2, listener)
	c.mustDeliver(0, speaker, room.Room.ID, "one", received)

	if err := syscall.Kill(c.pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.awaitLine("an instance has ended", func(line string) bool { return strings.HasPrefix(line, c.urls[1]+" has ended") })
	c.mustDeliver(0, speaker, room.Room.ID, "two", received)
	c.stop()
}

// TestInstancesThatDoNotStart starts a cluster whose instances cannot start. The Redis and the Postgres must be
// stopped, too.
func TestInstancesThatDoNotStart(t *testing.T) {
	enginetest.Need(t, "Redis and Postgres")
	setTempDir(t)
	var out bytes.Buffer
	err := run(t.Context(), t.Context(), "/bin/false", &lines{out: &out})
	if err == nil || !strings.Contains(err.Error(), "did not start: exit status 1") {
		t.Errorf("error %v, want one with: did not start: exit status 1\n%s", err, out.String())
	}
	mustLeaveNothing(t, os.TempDir())
}

// TestStopWhileStarting stops the cluster before it serves. That must be no error, and nothing may be left.
func TestStopWhileStarting(t *testing.T) {
	enginetest.Need(t, "Redis and Postgres")
	setTempDir(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := run(ctx, t.Context(), "/bin/false", &lines{out: io.Discard}); err != nil {
		t.Error(err)
	}
	mustLeaveNothing(t, os.TempDir())
}

// setTempDir makes a folder for temporary files that a server of another account can reach.
func setTempDir(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", dir)
}

// mustLeaveNothing fails the test if there are files in the folder or, on Linux, processes that name it.
func mustLeaveNothing(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 0 {
		t.Errorf("files left in %s: %v (%v), want none", dir, files, err)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range processes {
		if command, err := os.ReadFile(name); err == nil && bytes.Contains(command, []byte(dir)) {
			t.Errorf("a process is left: %s: %q", name, command)
		}
	}
}

// running is a cluster in a process of its own.
type running struct {
	*testing.T
	cmd  *exec.Cmd
	out  chan string // lines of the output; closed when the process has ended
	read []string    // lines that were read
	urls []string
	pids []int
}

func startCluster(t *testing.T, bin string) *running {
	setTempDir(t)
	c := &running{T: t, cmd: exec.Command(bin+"/hongbao-cluster", bin+"/hongbao"), out: make(chan string, 1000)}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = c.cmd.Stdout
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HONGBAO_") {
			c.cmd.Env = append(c.cmd.Env, pair)
		}
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.out)
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			c.out <- scan.Text()
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // if it still runs; its children die with it
		for line := range c.out {
			c.read = append(c.read, line)
		}
		_ = c.cmd.Wait()
		if t.Failed() {
			t.Log(strings.Join(c.read, "\n"))
		}
	})
	address := regexp.MustCompile(`^ +(http://127\.0\.0\.1:[0-9]+/) +process ([0-9]+)$`)
	c.awaitLine("three addresses and how to stop", func(line string) bool {
		if m := address.FindStringSubmatch(line); m != nil {
			pid, _ := strconv.Atoi(m[2])
			c.urls, c.pids = append(c.urls, m[1]), append(c.pids, pid)
		}
		return len(c.urls) == size && strings.Contains(line, "Ctrl-C stops everything")
	})
	return c
}

// awaitLine waits for a line of the output. want says which.
func (c *running) awaitLine(want string, is func(line string) bool) {
	c.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case line, ok := <-c.out:
			if !ok {
				c.Fatalf("the cluster ended before it printed: %s", want)
			}
			c.read = append(c.read, line)
			if is(line) {
				return
			}
		case <-limit:
			c.Fatalf("the cluster did not print within a minute: %s", want)
		}
	}
}

// stop stops the cluster gracefully, and fails the test if anything is left.
func (c *running) stop() {
	c.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer limit.Stop()
	for line := range c.out {
		c.read = append(c.read, line)
	}
	if err := c.cmd.Wait(); err != nil {
		c.Errorf("the cluster stopped with %v, want exit code 0", err)
	}
	for _, pid := range c.pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			c.Errorf("process %d of an instance is left (%v)", pid, err)
		}
	}
	mustLeaveNothing(c.T, os.TempDir())
}

func (c *running) post(n int, path, token string, request, reply any) {
	c.Helper()
	body, _ := json.Marshal(request)
	r, _ := http.NewRequest(http.MethodPost, c.urls[n]+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && reply != nil {
		err = json.Unmarshal(text, reply)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		c.Fatalf("POST %s: %s, error %v, want 200: %s", path, response.Status, err, text)
	}
}

func (c *running) guest(n int, name string) (token string) {
	c.Helper()
	var guest wire.GuestReply
	c.post(n, "v1/guests", "", map[string]string{"name": name}, &guest)
	return guest.Token
}

func (c *running) command(n int, token, method string, request, reply any) {
	c.Helper()
	c.post(n, "v1/commands/"+method, token, request, reply)
}

// listen connects a user to an instance, and returns the keys of all entries that are pushed.
func (c *running) listen(n int, token string) <-chan string {
	c.Helper()
	received, connected := make(chan string, 100), make(chan struct{})
	once := sync.OnceFunc(func() { close(connected) })
	client := centrifuge.NewJsonClient("ws"+strings.TrimPrefix(c.urls[n], "http")+"v1/socket", centrifuge.Config{Token: token})
	client.OnConnected(func(centrifuge.ConnectedEvent) { once() })
	client.OnPublication(func(e centrifuge.ServerPublicationEvent) {
		var entry wire.Entry
		if json.Unmarshal(e.Data, &entry) == nil {
			received <- entry.Key
		}
	})
	c.Cleanup(client.Close)
	if err := client.Connect(); err != nil {
		c.Fatal(err)
	}
	select {
	case <-connected:
	case <-time.After(2 * time.Minute):
		c.Fatalf("the user did not connect to %s within two minutes", c.urls[n])
	}
	return received
}

// mustDeliver sends a text, and waits until it is received.
func (c *running) mustDeliver(n int, token, room, key string, received <-chan string) {
	c.Helper()
	c.command(n, token, "send", wire.SendRequest{Room: room, Key: key, Text: "hello"}, nil)
	limit := time.After(2 * time.Minute)
	var keys []string
	for !slices.Contains(keys, key) {
		select {
		case got := <-received:
			keys = append(keys, got)
		case <-limit:
			c.Fatalf("text %q was not received within two minutes, only %q", key, keys)
		}
	}
}
