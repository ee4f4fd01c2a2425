package nodes

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

// Call is one call of a Lua script. All its keys are on one node; in a cluster they are all in one slot.
type Call struct {
	Cmd *redis.Cmd // the reply; set when the call was sent

	script *Script
	args   []any // as EVALSHA takes them
}

// keyOffset is the index of the first key in the command: EVALSHA, the SHA-1, the number of keys, the first key.
const keyOffset = 3

// Caller is a Call, or a struct that embeds one.
type Caller interface{ base() *Call }

// NewCall returns a call to which Add appends keys and arguments. keys and argCount are their numbers, so that args
// is allocated once.
func NewCall(s *Script, keys, argCount int) Call {
	c := Call{script: s, args: make([]any, keyOffset, keyOffset+keys+argCount)}
	c.args[0], c.args[1], c.args[2] = "evalsha", s.SHA, keys
	return c
}

// Add appends keys or arguments to the call. All keys must be added before the first argument.
func (c *Call) Add(args ...any) { c.args = append(c.args, args...) }

// key returns the first key, which determines the cluster slot.
func (c *Call) key() string { return c.args[keyOffset].(string) }

// Err returns the error of a call that was sent.
func (c *Call) Err() error { return c.Cmd.Err() }

func (c *Call) base() *Call { return c }

// fail sets the outcome of a call that could not be sent.
func (c *Call) fail(ctx context.Context, err error) {
	c.Cmd = redis.NewCmd(ctx)
	c.Cmd.SetErr(err)
}

// Runner is the client of one node, or a client that finds the nodes by itself.
type Runner interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

// Send runs the calls in one pipeline. Calls that fail because the node does not have the script are run again with
// the script's text.
func Send[C Caller](ctx context.Context, to Runner, calls []C) {
	exec(ctx, to, calls)
	var unknown []C
	for _, caller := range calls {
		if c := caller.base(); redis.HasErrorPrefix(c.Err(), "NOSCRIPT") {
			c.args[0], c.args[1] = "eval", c.script.Text
			unknown = append(unknown, caller)
		}
	}
	if unknown != nil {
		exec(ctx, to, unknown)
	}
}

// exec runs the calls. Each call holds its own outcome.
func exec[C Caller](ctx context.Context, to Runner, calls []C) {
	for _, caller := range calls {
		c := caller.base()
		c.Cmd = redis.NewCmd(ctx, c.args...)
		c.Cmd.SetFirstKeyPos(keyOffset)
	}
	if len(calls) == 1 {
		_ = to.Process(ctx, calls[0].base().Cmd) // the call has the error
		return
	}
	pipe := to.Pipeline()
	for _, c := range calls {
		_ = pipe.Process(ctx, c.base().Cmd) // only queues it
	}
	_, _ = pipe.Exec(ctx) // Exec returns the first error; each call has its own
}

// Script is a Lua script and its SHA-1, which is its name in Redis.
type Script struct{ Text, SHA string }

// NewScript returns the script with this text.
func NewScript(text string) *Script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Timeouts. Patience bounds each call of the Pool with all its retries. The others bound one step of a call: connecting,
// one reply, one pause before a retry.
const (
	Patience     = 2 * time.Second
	replyTimeout = 1500 * time.Millisecond
	dialTimeout  = time.Second
	minBackoff   = 8 * time.Millisecond
	maxBackoff   = 200 * time.Millisecond
)

// Set is the nodes of one Redis installation. It finds the node of each key, and retries calls while keys move between nodes.
type Set struct {
	Client redis.UniversalClient
	Checks *Checks // of the client's nodes; nil: every node may be used

	patience time.Duration // if not 0, it replaces Patience
}

// WithPatience returns the set with another limit than Patience, for tests.
func (s Set) WithPatience(d time.Duration) Set {
	s.patience = d
	return s
}

// Limit returns the longest time that a call may take with all its retries: Patience, unless a test has set another.
func (s Set) Limit() time.Duration { return cmp.Or(s.patience, Patience) }

// Of returns the client of the key's node. It fails at once while no node has been found fit.
func (s Set) Of(ctx context.Context, key string) (*redis.Client, error) {
	if err := s.Checks.Err(); err != nil {
		return nil, err
	}
	if c, ok := s.Client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return s.Client.(*redis.Client), nil
}

// Sharded reports whether the client's Redis is a cluster. Then all keys of a call must be in one slot.
func Sharded(client redis.UniversalClient) bool {
	_, ok := client.(*redis.ClusterClient)
	return ok
}

// Name names a node of the set for logs and errors.
func (s Set) Name(node *redis.Client) string {
	if s.Checks != nil && !Sharded(s.Client) {
		return s.Checks.name // behind sentinels the client knows no address
	}
	return "Redis at " + node.Options().Addr
}

// EachMaster calls f for each master, in a cluster concurrently. It returns all errors.
func EachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		var mu sync.Mutex
		var failed []error
		err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			if err := f(ctx, node); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("node %s: %w", node.Options().Addr, err))
			}
			return nil
		})
		return errors.Join(append(failed, err)...)
	case *redis.Client:
		return f(ctx, c)
	default:
		return fmt.Errorf("unexpected client %T", client)
	}
}

// Run runs calls for any nodes, one pipeline for each node. It retries calls that may succeed shortly.
func (s Set) Run(ctx context.Context, calls ...*Call) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit())
	defer cancel()
	byNode := map[*redis.Client][]*Call{}
	for _, c := range calls {
		node, err := s.Of(ctx, c.key())
		if err != nil {
			c.fail(ctx, err)
			continue
		}
		byNode[node] = append(byNode[node], c)
	}
	var wg sync.WaitGroup
	for node, calls := range byNode {
		if len(byNode) == 1 {
			Send(ctx, node, calls)
			break
		}
		wg.Go(func() { Send(ctx, node, calls) })
	}
	wg.Wait()
	Retry(ctx, s, Retryable(calls, 0))
}

// Retry repeats calls that failed, until each succeeds or fails for good, or ctx ends or leaves no time for another try. The
// Redis driver finds the nodes and follows redirects.
func Retry[C Caller](ctx context.Context, s Set, calls []C) {
	for tries := 1; len(calls) > 0; tries++ {
		delay := min(minBackoff<<tries, maxBackoff)
		delay = delay/2 + rand.N(delay)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
			return
		}
		if c, ok := s.Client.(*redis.ClusterClient); ok {
			c.ReloadState(ctx)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		Send(ctx, s.Client, calls)
		calls = Retryable(calls, tries)
	}
}

// maxReconnects is how often a call is repeated after its connection was lost or refused: the driver's pool may have
// held dead connections, or the host name may have got a new address. It is small, because calls must not wait for a
// server that is down.
const maxReconnects = 2

// Retryable returns the calls that failed and may succeed if they are repeated. tries is how often they have been repeated.
func Retryable[C Caller](calls []C, tries int) (rest []C) {
	for _, c := range calls {
		if err := c.base().Err(); err != nil && (transient(err) || connectionLost(err) && tries < maxReconnects) {
			rest = append(rest, c)
		}
	}
	return rest
}

// Reader decodes a reply item by item. The first unexpected item sets the error. All later items read as zero values.
type Reader struct {
	Items []any
	Err   error
}

// More reports whether items are left and all so far were as expected.
func (r *Reader) More() bool { return r.Err == nil && len(r.Items) > 0 }

func (r *Reader) next() any {
	if r.Err != nil || len(r.Items) == 0 {
		r.fail("nothing")
		return nil
	}
	item := r.Items[0]
	r.Items = r.Items[1:]
	return item
}

func (r *Reader) fail(what any) {
	if r.Err == nil {
		r.Err = fmt.Errorf("unexpected reply: %v (%T)", what, what)
	}
}

// Int reads an integer.
func (r *Reader) Int() int {
	n, ok := r.next().(int64)
	if !ok {
		r.fail("no integer")
	}
	return int(n)
}

// Text reads a text.
func (r *Reader) Text() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("no text")
	}
	return s
}

// List reads a list.
func (r *Reader) List() []any {
	l, ok := r.next().([]any)
	if !ok {
		r.fail("no list")
	}
	return l
}

// Number reads an integer that was sent as text.
func (r *Reader) Number() int {
	s := r.Text()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.fail(s)
	}
	return n
}

// Unavailable wraps a driver's failure with chat.ErrUnavailable.
func Unavailable(doing string, err error) error {
	return fmt.Errorf("redis: %s: %w: %w", doing, chat.ErrUnavailable, err)
}

// transient reports whether err says that Redis did not run the call, but may soon run it: during a failover, a
// restart or the move of a cluster slot.
func transient(err error) bool {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused.cause == nil
	}
	for _, word := range []string{
		"READONLY", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "MOVED", "ASK ", "NOREPLICAS", "UNBLOCKED",
	} {
		if redis.HasErrorPrefix(err, word) {
			return true
		}
	}
	return false
}

// connectionLost reports whether a connection was lost or could not be opened. It is false for a timeout, and for a
// call that was not sent because its node is not found fit.
func connectionLost(err error) bool {
	var answer redis.Error
	var refused *refusedError
	return !errors.As(err, &answer) && !timedOut(err) && !errors.Is(err, errNotOpen) && !errors.As(err, &refused)
}

// timedOut reports whether a node did not answer in time. A retry would take as long again.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, redis.ErrPoolTimeout)
}
