package presence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/store/redisstore/internal/redistest"
)

// fakeNodes answers the calls of a client without any network, so that its presence can run in a synctest bubble.
type fakeNodes struct {
	mu      sync.Mutex             // guards the fields below
	silent  map[string]bool        // by key: the node never answers
	renewed map[string][]time.Time // by key: when enter.lua ran
	left    map[string]bool        // by key: leave.lua was the last script that ran
}

var _ redis.Hook = (*fakeNodes)(nil)

// newFakePresence returns a presence on a cluster of fake nodes. In a cluster each call of a script is about one user.
func newFakePresence(t *testing.T, lease time.Duration) (*Presence, *fakeNodes) {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, MaxRedirects: -1})
	t.Cleanup(func() { _ = client.Close() })
	f := &fakeNodes{silent: map[string]bool{}, renewed: map[string][]time.Time{}, left: map[string]bool{}}
	client.AddHook(f)
	return New(client, Options{Lease: lease}), f
}

func (f *fakeNodes) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *fakeNodes) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return f.run(ctx, cmd) }
}

func (f *fakeNodes) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return f.run(ctx, cmds...) }
}

// run answers all commands to nodes that are not silent, and then waits for those that are, as the driver's pipeline does.
func (f *fakeNodes) run(ctx context.Context, cmds ...redis.Cmder) error {
	unanswered := f.answer(cmds)
	if len(unanswered) == 0 {
		return nil
	}
	<-ctx.Done()
	for _, cmd := range unanswered {
		cmd.SetErr(ctx.Err())
	}
	return ctx.Err()
}

// answer answers all commands but those to silent nodes, which it returns.
func (f *fakeNodes) answer(cmds []redis.Cmder) (unanswered []redis.Cmder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, cmd := range cmds {
		args := cmd.Args()
		if cmd.Name() == "exists" {
			if f.silent[args[1].(string)] {
				unanswered = append(unanswered, cmd)
			}
			continue
		}
		key := args[3].(string)
		switch script := cmd.(*redis.Cmd); {
		case f.silent[key]:
			unanswered = append(unanswered, cmd)
		case args[1] == leaveScript.SHA:
			f.left[key] = true
			script.SetVal(int64(1))
		default:
			f.renewed[key] = append(f.renewed[key], time.Now())
			f.left[key] = false
			script.SetVal([]any{[]any{[]any{int64(1)}, []any{}, int64(1)}})
		}
	}
	return unanswered
}

// enterUsers enters a socket of each of 300 users, and returns their keys.
func enterUsers(t *testing.T, p *Presence) (keys []string) {
	for i := range 300 {
		user := fmt.Sprint("u", i)
		enter(t, p, user, "s")
		keys = append(keys, userKey(user))
	}
	return keys
}

// longestPause returns the longest time between two renewals of a key, or between the last one and now.
func (f *fakeNodes) longestPause(key string) (longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	times := append(slices.Clone(f.renewed[key]), time.Now())
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// TestRunRenewsEachSocketThreeTimesALease checks the pace of the renewals, and that all sockets leave when Run ends.
func TestRunRenewsEachSocketThreeTimesALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease, leases = 9 * time.Second, 10
		p, f := newFakePresence(t, lease)
		keys := enterUsers(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		time.Sleep(leases * lease)
		synctest.Wait()
		for _, key := range keys {
			n := len(f.renewed[key]) - 1 // the first one is Enter
			if pause := f.longestPause(key); n < rounds*leases-1 || n > rounds*leases+1 || pause > lease/rounds {
				t.Fatalf("%s was renewed %d times in %d leases, with a pause of %v", key, n, leases, pause)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, key := range keys {
			if !f.left[key] {
				t.Errorf("%s is left", key)
			}
		}
	})
}

// TestRunRenewsOtherNodesWhileOneIsSilent makes a third of the users' nodes silent. Users on the other nodes are still renewed
// before their lease ends. When the nodes answer again, all users are renewed again within a lease.
func TestRunRenewsOtherNodesWhileOneIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 8 * time.Second
		p, f := newFakePresence(t, lease)
		log := &redistest.Log{}
		p.log = log.Logger()
		keys := enterUsers(t, p)
		runPresence(t, p)
		time.Sleep(lease)
		f.mu.Lock()
		for i, key := range keys {
			f.silent[key] = i%3 == 0
		}
		f.mu.Unlock()
		time.Sleep(10 * lease)
		synctest.Wait()
		for i, key := range keys {
			if pause := f.longestPause(key); i%3 == 0 && pause < 9*lease || i%3 != 0 && pause >= lease {
				t.Fatalf("%s was not renewed for %v", key, pause)
			}
		}
		f.mu.Lock()
		clear(f.silent)
		f.mu.Unlock()
		time.Sleep(lease)
		synctest.Wait()
		for _, key := range keys {
			if times := f.renewed[key]; time.Since(times[len(times)-1]) > lease {
				t.Errorf("%s is not renewed again", key)
			}
		}
		if text := log.String(); strings.Count(text, "presence is not renewed") == 0 || !strings.HasSuffix(text, "msg=\"presence renewed again\"\n") {
			t.Errorf("logged %s", text)
		}
	})
}

// TestCallsEndWithoutAnAnswer checks that calls to a silent Redis fail after callTimeout. A socket whose Enter had no answer is
// entered by the next renewal.
func TestCallsEndWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := newFakePresence(t, testLease)
		f.silent[userKey("u")] = true
		calls := map[string]func() error{
			"enter":  func() error { _, _, err := p.Enter(t.Context(), "u", "s", 9); return err },
			"online": func() error { _, err := p.Online(t.Context(), []string{"u"}); return err },
			"leave":  func() error { _, err := p.Leave(t.Context(), "u", "another"); return err },
		}
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			began := time.Now()
			if err := calls[name](); !errors.Is(err, chat.ErrUnavailable) || time.Since(began) != callTimeout {
				t.Errorf("%s: %v after %v, want unavailable after %v", name, err, time.Since(began), callTimeout)
			}
		}
		f.silent[userKey("u")] = false
		renewAll(t, p)
		if len(f.renewed[userKey("u")]) != 1 {
			t.Error("the socket was not entered")
		}
	})
}
