// Package redistest holds what the tests of several packages of the Redis store need: clients with the store's options,
// servers in unusual states, and waiting. Of the Redis store it imports only package nodes, and of the Pool it knows only the
// interface. All that it starts ends with its test.
package redistest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/storetest"
)

// parallelTests is how many parallel tests run at a time, unless -parallel says otherwise. Go's default is the number
// of processors, but most of these tests wait for timeouts, leases and failovers.
const parallelTests = "8"

// Main runs the tests of a package and returns its exit code.
func Main(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", parallelTests) // cannot fail: the flag exists and takes a number
	}
	nodes.SetLog(slog.New(slog.DiscardHandler)) // discards the driver's log, because tests kill servers all the time
	return storetest.Main(m)
}

// Dial returns a client with the options that redisstore.Open uses, but without time limits: only the contexts of its calls limit
// the wait for a reply.
func Dial(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	target, err := nodes.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	client := target.PatientClient()
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// patience is the limit of calls that must not fail on a busy machine.
const patience = time.Minute

// Nodes returns the nodes of the URL. A call may take a minute.
func Nodes(t testing.TB, url string) nodes.Set {
	t.Helper()
	return nodes.Set{Client: Dial(t, url)}.WithPatience(patience)
}

// SilentClient returns a client of a node that never answers, without any network. All calls end at the deadlines of their contexts.
// A test in a synctest bubble may use it.
func SilentClient(t testing.TB) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DisableIdentity: true})
	client.AddHook(silence{})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// silence is a hook that answers no command.
type silence struct{}

// DialHook implements redis.Hook.
func (silence) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (s silence) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return s.end(ctx, cmd) }
}

// ProcessPipelineHook implements redis.Hook.
func (s silence) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return s.end(ctx, cmds...) }
}

// end waits for the deadline, as the driver's connection does. A context with a deadline need not have a channel Done.
func (silence) end(ctx context.Context, cmds ...redis.Cmder) error {
	at, ok := ctx.Deadline()
	if !ok {
		panic("a call without a deadline")
	}
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
	}
	for _, cmd := range cmds {
		cmd.SetErr(os.ErrDeadlineExceeded)
	}
	return os.ErrDeadlineExceeded
}

// EachMaster calls do for each master. The test fails if it returns an error.
func EachMaster(t testing.TB, client redis.UniversalClient, do func(context.Context, *redis.Client) error) {
	t.Helper()
	if err := nodes.EachMaster(context.Background(), client, do); err != nil {
		t.Error(err)
	}
}

// ForgetKeys deletes all keys that match the pattern, on every master.
func ForgetKeys(t testing.TB, client redis.UniversalClient, pattern string) {
	t.Helper()
	EachMaster(t, client, func(ctx context.Context, node *redis.Client) error {
		keys := node.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			if err := node.Del(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	})
}

// Field returns the value of a line "name:value" of INFO.
func Field(info, name string) string {
	_, rest, _ := strings.Cut("\r\n"+info, "\r\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// ReplicaOf makes the server of the client a replica of master.
func ReplicaOf(t testing.TB, admin redis.UniversalClient, master *loopback.Redis) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Do(t.Context(), "replicaof", host, port).Err(); err != nil {
		t.Fatal(err)
	}
}

// PartialCluster starts a cluster of three nodes. While a node is down, the cluster still serves the slots of the others.
func PartialCluster(t *testing.T) *loopback.RedisCluster {
	t.Helper()
	enginetest.Need(t, "Redis")
	cluster, err := loopback.StartRedisCluster(t.Context(), t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	if err := cluster.KeepNodes(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, node := range cluster.Nodes() {
		if err := Dial(t, node.URL()).ConfigSet(t.Context(), "cluster-require-full-coverage", "no").Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

// PartitionsOf returns the partitions whose node has this address, and all other partitions.
func PartitionsOf(t *testing.T, client redis.UniversalClient, addr string) (there, elsewhere []int) {
	t.Helper()
	for partition := range redpacket.Partitions {
		node, err := nodes.Set{Client: client}.Of(t.Context(), fmt.Sprintf("rp:{p%02d}:due", partition))
		if err != nil {
			t.Fatal(err)
		}
		if node.Options().Addr == addr {
			there = append(there, partition)
		} else {
			elsewhere = append(elsewhere, partition)
		}
	}
	return there, elsewhere
}

// InPartition returns an open packet of one share in the partition.
func InPartition(partition int) redpacket.Image {
	return redpacket.Image{
		Ref: redpacket.Ref{ID: "packet", Partition: partition}, Count: 1, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
	}
}

// Grab loads a packet into the partition and makes one grab. It returns the error of either.
func Grab(t *testing.T, p redpacket.Pool, partition int) error {
	t.Helper()
	i := InPartition(partition)
	if err := p.Load(t.Context(), i); err != nil {
		return err
	}
	_, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "u"}})
	return err
}

// MustGrabWithin repeats grabs in the partition until one is answered. It fails the test if none is answered within most.
func MustGrabWithin(t *testing.T, p redpacket.Pool, partition int, most time.Duration) {
	t.Helper()
	began := time.Now()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for err := Grab(t, p, partition); err != nil; err = Grab(t, p, partition) {
		if time.Since(began) > most {
			t.Fatalf("after %v: %v", most, err)
		}
		<-poll.C
	}
}

// WantUnavailable makes the calls at the same time, and checks that each fails with chat.ErrUnavailable. In make nightly, each must
// fail within a second and a half. On a busy machine, some of three tries may take longer.
func WantUnavailable(t *testing.T, calls map[string]func() error) {
	t.Helper()
	const most = 1500 * time.Millisecond
	tries := 1
	if enginetest.Tonight("waits") {
		tries = 3
	}
	var all sync.WaitGroup
	for name, call := range calls {
		all.Go(func() {
			for range tries {
				start := time.Now()
				if err := call(); !errors.Is(err, chat.ErrUnavailable) {
					t.Errorf("%s returned %v, want unavailable", name, err)
				}
				if time.Since(start) <= most {
					return
				}
			}
			if tries > 1 {
				t.Errorf("%s took longer than %v, %d times", name, most, tries)
			}
		})
	}
	all.Wait()
}

// Await polls until a condition holds, and fails the test after a minute.
func Await(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !met() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("timed out: %s", what)
		}
	}
}

// Log is a log that may be read while it is written.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Logger returns a logger that writes into the log.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// ReplyFromBytes builds a reply of integers, texts, nils and nested lists for a fuzz test.
func ReplyFromBytes(script []byte, text string) (reply []any, rest []byte) {
	for len(script) > 0 {
		b := script[0]
		script = script[1:]
		switch b % 8 {
		case 0, 1:
			reply = append(reply, int64(b/8)) // decisions, shares and counts
		case 2:
			reply = append(reply, -int64(b/8))
		case 3:
			reply = append(reply, int64(b/8)<<58)
		case 4:
			reply = append(reply, text)
		case 5:
			reply = append(reply, nil)
		case 6:
			var list []any
			list, script = ReplyFromBytes(script, text)
			reply = append(reply, list)
		case 7:
			return reply, script
		}
	}
	return reply, nil
}

// Replied returns a command with this reply.
func Replied(reply any) *redis.Cmd {
	cmd := redis.NewCmd(context.Background())
	cmd.SetVal(reply)
	return cmd
}
