package pool

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// scriptCounter is a hook that counts script calls. While gate is not nil, a call waits for it.
type scriptCounter struct {
	calls atomic.Int64
	gate  atomic.Pointer[chan struct{}]
}

func (s *scriptCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *scriptCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		s.count(cmd)
		return next(ctx, cmd)
	}
}

func (s *scriptCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		s.count(cmds...)
		return next(ctx, cmds)
	}
}

func (s *scriptCounter) count(cmds ...redis.Cmder) {
	for _, cmd := range cmds {
		if strings.HasPrefix(cmd.Name(), "eval") {
			s.calls.Add(1)
		}
	}
	if gate := s.gate.Load(); gate != nil {
		<-*gate
	}
}

// TestScriptCallsOfAGrab counts script calls: a grab alone has one, and so has its acknowledgement. The grabs that come while a
// call is under way share one, whatever packets of a partition they grab, and so do the acknowledgements.
func TestScriptCallsOfAGrab(t *testing.T) {
	ctx := t.Context()
	client := redistest.Dial(t, storetest.Redis(t).URL())
	forget(t, client)
	scripts := &scriptCounter{}
	client.AddHook(scripts)
	p := New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{OutboxCap: 1 << 20})
	refs := make([]redpacket.Ref, 5)
	for i := range refs {
		refs[i] = redpacket.Ref{ID: "packet-" + strconv.Itoa(i), Partition: 1}
		image := redpacket.Image{Ref: refs[i], Count: 1000, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
		if err := p.Load(ctx, image); err != nil {
			t.Fatal(err)
		}
	}
	grab := func(n int) redpacket.Claim {
		a := redpacket.Attempt{Ref: refs[n%len(refs)], User: "user-" + strconv.Itoa(n)}
		got, err := p.Grab(ctx, []redpacket.Attempt{a})
		if err != nil || got[0].Decision != redpacket.Granted {
			t.Errorf("%+v, %v", got, err)
			return redpacket.Claim{}
		}
		return redpacket.Claim{Ref: a.Ref, User: a.User, Share: got[0].Share, Entry: got[0].Entry}
	}
	ack := func(claim redpacket.Claim) {
		if err := p.Ack(ctx, []redpacket.Claim{claim}); err != nil {
			t.Error(err)
		}
	}
	count := func(do func()) int64 {
		before := scripts.calls.Load()
		do()
		return scripts.calls.Load() - before
	}
	// together runs do(0) to do(n-1): the first one's call waits until all others wait for the next call.
	const n = secondBatch // the first, and fewer than have a second call beside the first
	together := func(do func(i int)) {
		gate := make(chan struct{})
		scripts.gate.Store(&gate)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(i) })
			for p.batchers.waiting() <= i {
				time.Sleep(time.Millisecond) // sleeps: until the caller waits for the pool
			}
		}
		scripts.gate.Store(nil)
		close(gate)
		all.Wait()
	}
	ack(grab(0)) // Redis then knows the scripts
	var claim redpacket.Claim
	if got := count(func() { claim = grab(1) }); got != 1 {
		t.Errorf("a grab alone: %d script calls, want 1", got)
	}
	if got := count(func() { ack(claim) }); got != 1 {
		t.Errorf("an acknowledgement alone: %d script calls, want 1", got)
	}
	claims := make([]redpacket.Claim, n)
	if got := count(func() { together(func(i int) { claims[i] = grab(100 + i) }) }); got != 2 {
		t.Errorf("%d grabs at once: %d script calls, want 2", n, got)
	}
	if got := count(func() { together(func(i int) { ack(claims[i]) }) }); got != 2 {
		t.Errorf("%d acknowledgements at once: %d script calls, want 2", n, got)
	}
}
