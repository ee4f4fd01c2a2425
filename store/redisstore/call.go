package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	_ "embed"
	"encoding/hex"
	"time"

	"github.com/redis/go-redis/v9"
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

// until returns a context whose Deadline is t, but which is never done. The Redis driver sets the deadline on its
// connection, so no timer is needed. A timer would cost a single caller more than the rest of the batcher.
func until(t time.Time) context.Context { return deadline{context.Background(), t} }

type deadline struct {
	context.Context //nolint:containedctx // this type is a context
	at              time.Time
}

// Deadline implements context.Context.
func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
