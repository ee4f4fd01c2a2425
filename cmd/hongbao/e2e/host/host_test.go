// Package host tests two back ends of hosts, one in Go and one in Node, that were written from the documents alone: testdata/host.go and testdata/host.mjs.
// Three instances serve them, of which two are killed.
package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

var (
	seconds = flag.Int("host.seconds", 6, "how long both hosts make traffic")
	users   = flag.Int("host.users", 400, "users of both hosts together")
	rooms   = flag.Int("host.rooms", 20, "rooms of both hosts together")
	workers = flag.Int("host.workers", 4, "requests of each host at once")
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// program is a running host.
type program struct {
	*testing.T
	name   string
	cmd    *exec.Cmd
	file   string // of the events that it got
	mu     sync.Mutex
	said   []string
	stderr bytes.Buffer
}

func start(t *testing.T, name string, variables []string, command ...string) *program {
	t.Helper()
	p := &program{T: t, name: name, file: filepath.Join(t.TempDir(), name+".jsonl")}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Env = append(append(e2e.BareEnvironment(), "OUT="+p.file,
		fmt.Sprint("USERS=", *users/2), fmt.Sprint("ROOMS=", *rooms/2), fmt.Sprint("SECONDS=", *seconds), fmt.Sprint("WORKERS=", *workers)), variables...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	e2e.NoError(t, err)
	e2e.NoError(t, p.cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			p.mu.Lock()
			p.said = append(p.said, lines.Text())
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-read
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Logf("%s wrote to stderr:\n%s", name, p.stderr.String())
		}
	})
	return p
}

// await waits until the program has said a word.
func (p *program) await(word string, most time.Duration) {
	p.Helper()
	e2e.Eventually(p.T, most, p.name+" says "+word, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.said, word)
	})
}

// event is an event as a host got it.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Room  string `json:"room"`
		User  string `json:"user"`
		Entry *struct {
			Seq int64 `json:"seq"`
		} `json:"entry"`
		Claim *struct {
			Packet string `json:"packet"`
			Share  int    `json:"share"`
		} `json:"claim"`
		Transfer *struct {
			ID string `json:"id"`
		} `json:"transfer"`
	} `json:"data"`
	Received int64 `json:"received"` // by the host in Node, in Unix milliseconds
}

// fact names what the event is about, as the database does. "": the database keeps no row for it.
func (e event) fact() string {
	switch {
	case e.Type == "user.offline_message":
		return ""
	case e.Data.Entry != nil:
		return fmt.Sprintf("entry %s %d", e.Data.Room, e.Data.Entry.Seq)
	case e.Data.Claim != nil:
		return fmt.Sprintf("claim %s %d", e.Data.Claim.Packet, e.Data.Claim.Share)
	case e.Data.Transfer != nil:
		return "transfer " + e.Data.Transfer.ID + " " + e.Data.User
	}
	return ""
}

// key names the room or the user in whose order the event is.
func (e event) key() string {
	if e.Data.Room != "" && e.Type != "user.offline_message" {
		return "room " + e.Data.Room
	}
	return "user " + e.Data.User
}

// got returns the events of the program: each once, in the order of the first time. again has those that came again.
func (p *program) got() (once, again []event) {
	p.Helper()
	text, err := os.ReadFile(p.file)
	e2e.NoError(p.T, err)
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		text = text[:end] // without a line that is being written
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		var e event
		e2e.NoError(p.T, json.Unmarshal(line, &e))
		if seen[e.ID] {
			again = append(again, e)
			continue
		}
		seen[e.ID] = true
		once = append(once, e)
	}
	return once, again
}

// TestHostsReceiveEveryEvent lets two hosts make users, rooms and traffic over three instances, and kills two of these, the first time the one that
// delivers to the webhook. Both hosts must then have every fact of the database, in the order of each room and each user, and the same events.
func TestHostsReceiveEveryEvent(t *testing.T) {
	enginetest.Nightly(t, "whole")
	enginetest.Need(t, "Redis and Postgres")
	nodeProgram := enginetest.Program(t, "node")
	database := storetest.Database(t)
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	hookAddr, hookSecret := e2e.FreeAddress(t), "whsec_"+base64.StdEncoding.EncodeToString(secret)
	_, hookPort, _ := strings.Cut(hookAddr, ":")
	binary := e2e.Build(t, "")
	keys := filepath.Join(t.TempDir(), "keys")
	out, err := exec.Command(binary, "apikey", "new", "--name", "host", "--scopes", "chat,money,read", "--api-keys-file", keys).Output()
	e2e.NoError(t, err)
	key := strings.Fields(string(out))[0]
	file, err := os.ReadFile(keys)
	e2e.NoError(t, err)
	e2e.NoError(t, os.WriteFile(keys, append(bytes.TrimSpace(file), " 100000\n"...), 0o600)) // requests a second

	var each [][]string
	var urls []string
	for range 3 {
		addr := e2e.FreeAddress(t)
		urls = append(urls, "http://"+addr)
		each = append(each, []string{
			"HONGBAO_API_ADDR=" + addr, "HONGBAO_API_KEYS_FILE=" + keys, "HONGBAO_EVENTS=*",
			"HONGBAO_WEBHOOK_URL=http://" + hookAddr + "/hook", "HONGBAO_WEBHOOK_SECRETS=" + hookSecret, "HONGBAO_WEBHOOK_ALLOW=127.0.0.1",
		})
	}
	goHost := filepath.Join(t.TempDir(), "host")
	if out, err := exec.Command("go", "build", "-o", goHost, "testdata/host.go").CombinedOutput(); err != nil {
		t.Fatalf("build the host: %v\n%s", err, out)
	}
	cluster := e2e.StartCluster(t, binary, storetest.Redis(t), database, each...)
	common := []string{"URLS=" + strings.Join(urls, ","), "KEY=" + key}
	node := start(t, "node", append(common, "PORT="+hookPort, "SECRET="+hookSecret), nodeProgram, "testdata/host.mjs")
	golang := start(t, "go", common, goHost)
	long := time.Duration(*seconds)*time.Second + 2*time.Minute
	node.await("ready", long)
	golang.await("ready", long)

	third := time.Duration(*seconds) * time.Second / 3
	time.Sleep(third)
	first := deliverer(t, cluster)
	killed := time.Now()
	cluster.Servers[first].Kill()
	e2e.Eventually(t, 30*time.Second, "another instance delivers", func() bool { return deliverer(t, cluster) != first })
	took := time.Since(killed)
	time.Sleep(third)
	second := (first + 1) % 3
	if deliverer(t, cluster) == second {
		second = (first + 2) % 3
	}
	cluster.Servers[second].Kill()
	node.await("done", long)
	golang.await("done", long)

	facts := factsOf(t, database)
	complete := func(p *program) bool {
		once, _ := p.got()
		have := map[string]bool{}
		for _, e := range once {
			have[e.fact()] = true
		}
		return !slices.ContainsFunc(facts, func(f string) bool { return !have[f] })
	}
	// The claims of the last packets may be committed, and packets closed, after the hosts are done.
	e2e.Eventually(t, long, "both hosts have every fact of the database", func() bool {
		facts = factsOf(t, database)
		return complete(node) && complete(golang)
	})
	ids := func(p *program) []string {
		once, _ := p.got()
		all := make([]string, len(once))
		for i, e := range once {
			all[i] = e.ID
		}
		slices.Sort(all)
		return all
	}
	e2e.Eventually(t, long, "both hosts have the same events", func() bool { return slices.Equal(ids(node), ids(golang)) })
	kinds := map[string]int{}
	for _, p := range []*program{node, golang} {
		once, again := p.got()
		inOrder(t, p.name, once)
		t.Logf("%s: %d events, %d of them again", p.name, len(once), len(again))
		for _, e := range once {
			kinds[e.Type]++
		}
	}
	sameOrder(t, node, golang)
	for _, kind := range []string{"message.new", "packet.sent", "packet.claimed", "packet.closed", "transfer.credit", "transfer.send", "transfer.claim", "member.joined", "room.created", "user.updated", "user.offline_message"} {
		if kinds[kind] == 0 {
			t.Errorf("no event of the kind %s", kind)
		}
	}
	_, again := node.got()
	if most := 8 * 100; len(again) > most { // the batches of the instances that died, and of deliveries whose answer was late
		t.Errorf("the webhook got %d events again, want at most %d", len(again), most)
	}
	t.Logf("%d facts; another instance had the lease of the webhook %.1f s after the kill; kinds %v", len(facts), took.Seconds(), kinds)
	if took > 6*time.Second {
		e2e.TooSlow(t, "another instance delivers after %s, want 5 s", took)
	}
	cluster.Front().MustBalance()
}

// deliverer returns which instance has last begun to deliver to the webhook.
func deliverer(t *testing.T, c *e2e.Cluster) (which int) {
	t.Helper()
	latest := ""
	for i, s := range c.Servers {
		for line := range strings.Lines(s.Log()) {
			var l struct{ Time, Msg, Consumer string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "reading the event stream" && l.Consumer == "webhook" && l.Time > latest {
				which, latest = i, l.Time
			}
		}
	}
	if latest == "" {
		t.Fatal("no instance delivers to the webhook")
	}
	return which
}

// factsOf returns the facts of the database that are events.
func factsOf(t *testing.T, database string) (all []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	db, err := pgx.Connect(ctx, database)
	e2e.NoError(t, err)
	defer func() { _ = db.Close(ctx) }()
	rows, err := db.Query(ctx, `select 'entry ' || room_id || ' ' || seq from entries
		union all select 'claim ' || packet_id || ' ' || share_no from claims
		union all select 'transfer ' || id || ' ' || user_id from transfers`)
	e2e.NoError(t, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	e2e.NoError(t, err)
	return all
}

// inOrder checks that the entries of each room come in the order of seq.
func inOrder(t *testing.T, name string, events []event) {
	t.Helper()
	last := map[string]int64{}
	for _, e := range events {
		if e.Data.Entry == nil || e.Type == "user.offline_message" {
			continue
		}
		if seq := e.Data.Entry.Seq; seq <= last[e.Data.Room] {
			t.Errorf("%s: room %s: entry %d after %d", name, e.Data.Room, seq, last[e.Data.Room])
		} else {
			last[e.Data.Room] = seq
		}
	}
}

// sameOrder checks that both programs got the events of each room and each user in the same order, which is that of the stream: by the number in the id.
func sameOrder(t *testing.T, programs ...*program) {
	t.Helper()
	for _, p := range programs {
		once, _ := p.got()
		last := map[string][2]int{}
		for _, e := range once {
			parts := strings.Split(e.ID, "-")
			if len(parts) != 3 {
				t.Fatalf("id %q", e.ID)
			}
			row, err := strconv.Atoi(parts[1])
			e2e.NoError(t, err)
			n, err := strconv.Atoi(parts[2])
			e2e.NoError(t, err)
			before := last[e.key()]
			if row < before[0] || row == before[0] && n <= before[1] {
				t.Errorf("%s: %s: event %s after row %d", p.name, e.key(), e.ID, before[0])
			}
			last[e.key()] = [2]int{row, n}
		}
	}
}
