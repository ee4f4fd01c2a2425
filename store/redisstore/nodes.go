package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	_ "embed"
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

// call is one call of a Lua script. All its keys are on one node; in a cluster they are all of one partition.
type call struct {
	script *script
	args   []any // as EVALSHA takes them
	cmd    *redis.Cmd

	// only for a call of a batch
	requests []*request // requests that the reply answers
	groups   []*group   // of a grab: its attempts by packet, in the order of the reply
	retried  bool       // is retried outside the batch
}

// keyOffset is the index of the first key in args.
const keyOffset = 3

// newCall returns a call to which add appends keys and arguments. keys and argCount are their numbers, so that args
// is allocated once.
func newCall(s *script, keys, argCount int) *call {
	c := &call{script: s, args: make([]any, keyOffset, keyOffset+keys+argCount)}
	c.args[0], c.args[1], c.args[2] = "evalsha", s.sha, keys
	return c
}

func (c *call) add(args ...any) { c.args = append(c.args, args...) }

// key is the first key. It determines the cluster slot.
func (c *call) key() string { return c.args[keyOffset].(string) }

func (c *call) err() error { return c.cmd.Err() }

// fail sets the outcome of a call that could not be sent.
func (c *call) fail(ctx context.Context, err error) {
	c.cmd = redis.NewCmd(ctx)
	c.cmd.SetErr(err)
}

// runner is the client of one node, or a client that finds the nodes by itself.
type runner interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

// send runs the calls in one pipeline. Calls that fail because the node does not have the script are run again with
// the script's text.
func send(ctx context.Context, to runner, calls []*call) {
	exec(ctx, to, calls)
	var unknown []*call
	for _, c := range calls {
		if redis.HasErrorPrefix(c.err(), "NOSCRIPT") {
			c.args[0], c.args[1] = "eval", c.script.text
			unknown = append(unknown, c)
		}
	}
	if unknown != nil {
		exec(ctx, to, unknown)
	}
}

// exec runs the calls. Each call holds its own outcome.
func exec(ctx context.Context, to runner, calls []*call) {
	for _, c := range calls {
		c.cmd = redis.NewCmd(ctx, c.args...)
		c.cmd.SetFirstKeyPos(keyOffset)
	}
	if len(calls) == 1 {
		_ = to.Process(ctx, calls[0].cmd) // the call has the error
		return
	}
	pipe := to.Pipeline()
	for _, c := range calls {
		_ = pipe.Process(ctx, c.cmd) // only queues it
	}
	_, _ = pipe.Exec(ctx) // Exec returns the first error; each call has its own
}

//go:embed pool_grab.lua
var grabLua string

//go:embed pool_load.lua
var loadLua string

//go:embed pool_close.lua
var closeLua string

//go:embed pool_ack.lua
var ackLua string

//go:embed pool_due.lua
var dueLua string

//go:embed pool_unsettled.lua
var unsettledLua string

//go:embed pool_recount.lua
var recountLua string

// script is a Lua script and its SHA-1, which is its name in Redis.
type script struct{ text, sha string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// poolScripts are the Pool's scripts.
type poolScripts struct{ grab, load, close, ack, due, unsettled, recount *script }

func newPoolScripts() poolScripts {
	return poolScripts{
		grab: newScript(grabLua), load: newScript(loadLua), close: newScript(closeLua),
		ack: newScript(ackLua), due: newScript(dueLua), unsettled: newScript(unsettledLua), recount: newScript(recountLua),
	}
}

// nodes finds the node of each key, and retries calls while keys move between nodes.
type nodes struct {
	client redis.UniversalClient
	checks *nodeChecks // of the client's nodes; nil: every node may be used
}

// of returns the client of the key's node. It fails at once while no node has been found fit.
func (n nodes) of(ctx context.Context, key string) (*redis.Client, error) {
	if err := n.checks.err(); err != nil {
		return nil, err
	}
	if c, ok := n.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return n.client.(*redis.Client), nil
}

// sharded reports whether Redis is a cluster. Then all keys of a call must be in one slot.
func (n nodes) sharded() bool {
	_, ok := n.client.(*redis.ClusterClient)
	return ok
}

// run runs calls for any nodes, one pipeline for each node. It retries calls that may succeed shortly.
func (n nodes) run(ctx context.Context, calls ...*call) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	byNode := map[*redis.Client][]*call{}
	for _, c := range calls {
		node, err := n.of(ctx, c.key())
		if err != nil {
			c.fail(ctx, err)
			continue
		}
		byNode[node] = append(byNode[node], c)
	}
	var wg sync.WaitGroup
	for node, calls := range byNode {
		if len(byNode) == 1 {
			send(ctx, node, calls)
			break
		}
		wg.Go(func() { send(ctx, node, calls) })
	}
	wg.Wait()
	n.retry(ctx, retryable(calls, 0))
}

// retry repeats calls that failed, until each succeeds, fails for good, or ctx ends. The Redis driver finds the nodes
// and follows redirects.
func (n nodes) retry(ctx context.Context, calls []*call) {
	for tries := 1; len(calls) > 0; tries++ {
		delay := min(minBackoff<<tries, maxBackoff)
		delay = delay/2 + rand.N(delay)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
			return
		}
		if c, ok := n.client.(*redis.ClusterClient); ok {
			c.ReloadState(ctx)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		send(ctx, n.client, calls)
		calls = retryable(calls, tries)
	}
}

// maxReconnects is how often a call is repeated after its connection was lost or refused: the driver's pool may have
// held dead connections, or the host name may have got a new address. It is small, because calls must not wait for a
// server that is down.
const maxReconnects = 2

func retryable(calls []*call, tries int) (rest []*call) {
	for _, c := range calls {
		if err := c.err(); err != nil && (transient(err) || connectionLost(err) && tries < maxReconnects) {
			rest = append(rest, c)
		}
	}
	return rest
}

// reader decodes a reply item by item. The first unexpected item sets the error. All later items read as zero values.
type reader struct {
	items []any
	err   error
}

func (r *reader) more() bool { return r.err == nil && len(r.items) > 0 }

func (r *reader) next() any {
	if r.err != nil || len(r.items) == 0 {
		r.fail("nothing")
		return nil
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reader) fail(what any) {
	if r.err == nil {
		r.err = fmt.Errorf("unexpected reply: %v (%T)", what, what)
	}
}

func (r *reader) int() int {
	n, ok := r.next().(int64)
	if !ok {
		r.fail("no integer")
	}
	return int(n)
}

func (r *reader) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("no text")
	}
	return s
}

func (r *reader) list() []any {
	l, ok := r.next().([]any)
	if !ok {
		r.fail("no list")
	}
	return l
}

// number reads an integer that was sent as text.
func (r *reader) number() int {
	s := r.text()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.fail(s)
	}
	return n
}

// unavailable wraps a driver's failure with chat.ErrUnavailable.
func unavailable(doing string, err error) error {
	return fmt.Errorf("redis: %s: %w: %w", doing, chat.ErrUnavailable, err)
}

// transient reports whether err says that Redis did not run the call, but may soon run it: during a failover, a
// restart or the move of a cluster slot.
func transient(err error) bool {
	var refused *nodeRefusedError
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
	var refused *nodeRefusedError
	return !errors.As(err, &answer) && !timedOut(err) && !errors.Is(err, errNotOpen) && !errors.As(err, &refused)
}

// timedOut reports whether a node did not answer in time. A retry would take as long again.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, redis.ErrPoolTimeout)
}
