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

	"hongbao/web/wire"
)

// TestCluster plays with the real thing: what is said on one instance is heard on another, an instance may be killed,
// and in the end nothing is left.
func TestCluster(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "hongbao/cmd/hongbao", "hongbao/cmd/hongbao-cluster").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c := startCluster(t, bin)
	speaker, listener := c.guest(0, "Mei"), c.guest(2, "Lan")
	var room wire.CreateRoomReply
	c.command(0, speaker, "create_room", wire.CreateRoomRequest{Key: "room", Name: "house", Kind: "public"}, &room)
	c.command(2, listener, "join", wire.JoinRequest{Room: room.Room.ID}, nil)
	heard := c.listen(2, listener)
	c.says(0, speaker, room.Room.ID, "one", heard)

	if err := syscall.Kill(c.pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("the death of an instance", func(line string) bool { return strings.HasPrefix(line, c.urls[1]+" has ended") })
	c.says(0, speaker, room.Room.ID, "two", heard)
	c.stops()
}

// TestClusterWithoutInstances: when nothing comes of it, the servers go too.
func TestClusterWithoutInstances(t *testing.T) {
	home(t)
	var out bytes.Buffer
	err := play(t.Context(), t.Context(), "/bin/false", &lines{out: &out})
	if err == nil || !strings.Contains(err.Error(), "did not start: exit status 1") {
		t.Errorf("%v\n%s", err, out.String())
	}
	nothingLeft(t, os.TempDir())
}

// TestClusterStoppedWhileStarting ends well.
func TestClusterStoppedWhileStarting(t *testing.T) {
	home(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := play(ctx, t.Context(), "/bin/false", &lines{out: io.Discard}); err != nil {
		t.Error(err)
	}
	nothingLeft(t, os.TempDir())
}

// home makes a folder for temporary files, which a server that runs as somebody else can reach.
func home(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", dir)
}

// nothingLeft looks for files and, where it can, for processes that were started in the folder.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range processes {
		if command, err := os.ReadFile(name); err == nil && bytes.Contains(command, []byte(dir)) {
			t.Errorf("runs still: %s: %q", name, command)
		}
	}
}

// running is a cluster in a process of its own.
type running struct {
	*testing.T
	cmd  *exec.Cmd
	out  chan string // its lines; closed when it has ended
	said []string    // of them
	urls []string
	pids []int
}

func startCluster(t *testing.T, bin string) *running {
	home(t)
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
		_ = c.cmd.Process.Kill() // if it runs still; its children go with it
		for line := range c.out {
			c.said = append(c.said, line)
		}
		_ = c.cmd.Wait()
		if t.Failed() {
			t.Log(strings.Join(c.said, "\n"))
		}
	})
	place := regexp.MustCompile(`^ +(http://127\.0\.0\.1:[0-9]+/) +process ([0-9]+)$`)
	c.until("three places and how to stop", func(line string) bool {
		if m := place.FindStringSubmatch(line); m != nil {
			pid, _ := strconv.Atoi(m[2])
			c.urls, c.pids = append(c.urls, m[1]), append(c.pids, pid)
		}
		return len(c.urls) == size && strings.Contains(line, "Ctrl-C stops everything")
	})
	return c
}

// until waits for a line.
func (c *running) until(what string, is func(line string) bool) {
	c.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-c.out:
			if !ok {
				c.Fatalf("it ended before: %s", what)
			}
			c.said = append(c.said, line)
			if is(line) {
				return
			}
		case <-late:
			c.Fatalf("not within a minute: %s", what)
		}
	}
}

// stops ends it in good order, and looks whether anything is left.
func (c *running) stops() {
	c.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	for line := range c.out {
		c.said = append(c.said, line)
	}
	if err := c.cmd.Wait(); err != nil {
		c.Errorf("it stopped with %v", err)
	}
	for _, pid := range c.pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			c.Errorf("instance %d is there: %v", pid, err)
		}
	}
	nothingLeft(c.T, os.TempDir())
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
		c.Fatalf("%s: %s, %v: %s", path, response.Status, err, text)
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

// listen gives the keys of all entries that the user hears on an instance.
func (c *running) listen(n int, token string) <-chan string {
	c.Helper()
	heard, connected := make(chan string, 100), make(chan struct{})
	once := sync.OnceFunc(func() { close(connected) })
	client := centrifuge.NewJsonClient("ws"+strings.TrimPrefix(c.urls[n], "http")+"v1/socket", centrifuge.Config{Token: token})
	client.OnConnected(func(centrifuge.ConnectedEvent) { once() })
	client.OnPublication(func(e centrifuge.ServerPublicationEvent) {
		var entry wire.Entry
		if json.Unmarshal(e.Data, &entry) == nil {
			heard <- entry.Key
		}
	})
	c.Cleanup(client.Close)
	if err := client.Connect(); err != nil {
		c.Fatal(err)
	}
	select {
	case <-connected:
	case <-time.After(20 * time.Second):
		c.Fatal("not connected")
	}
	return heard
}

// says sends a message, and waits until it is heard.
func (c *running) says(n int, token, room, key string, heard <-chan string) {
	c.Helper()
	c.command(n, token, "send", wire.SendRequest{Room: room, Key: key, Text: "hello"}, nil)
	late := time.After(20 * time.Second)
	var other []string
	for !slices.Contains(other, key) {
		select {
		case got := <-heard:
			other = append(other, got)
		case <-late:
			c.Fatalf("%q is not heard, only %q", key, other)
		}
	}
}
