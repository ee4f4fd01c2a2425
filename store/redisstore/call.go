package redisstore

import (
	"context"

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
