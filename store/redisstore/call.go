package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// call is one run of a script, on the keys of one node, and in a cluster of one partition.
type call struct {
	script *script
	args   []any // as EVALSHA takes them
	cmd    *redis.Cmd

	// of a flight
	asks      []*ask   // who waits for it
	groups    []*group // whom it answers, of a grab
	postponed bool     // it is tried again
}

// head is how many arguments stand before the keys.
const head = 3

// newCall makes a call of which only the keys and arguments are missing; room is how many these are.
func newCall(s *script, keys, room int) *call {
	c := &call{script: s, args: make([]any, head, head+keys+room)}
	c.args[0], c.args[1], c.args[2] = "evalsha", s.sha, keys
	return c
}

func (c *call) add(args ...any) { c.args = append(c.args, args...) }

// key is the first one; it tells the slot.
func (c *call) key() string { return c.args[head].(string) }

func (c *call) err() error { return c.cmd.Err() }

// fail is the outcome of a call that could not be sent.
func (c *call) fail(ctx context.Context, err error) {
	c.cmd = redis.NewCmd(ctx)
	c.cmd.SetErr(err)
}

// runner is a node, or a client that finds the nodes by itself.
type runner interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

// send runs the calls in one pipeline. Those whose script the node does not have are run again with its text.
func send(ctx context.Context, to runner, calls []*call) {
	exec(ctx, to, calls)
	var strange []*call
	for _, c := range calls {
		if redis.HasErrorPrefix(c.err(), "NOSCRIPT") {
			c.args[0], c.args[1] = "eval", c.script.text
			strange = append(strange, c)
		}
	}
	if strange != nil {
		exec(ctx, to, strange)
	}
}

// exec runs the calls; each has an outcome of its own.
func exec(ctx context.Context, to runner, calls []*call) {
	for _, c := range calls {
		c.cmd = redis.NewCmd(ctx, c.args...)
		c.cmd.SetFirstKeyPos(head)
	}
	if len(calls) == 1 {
		_ = to.Process(ctx, calls[0].cmd) // the call has the error
		return
	}
	pipe := to.Pipeline()
	for _, c := range calls {
		_ = pipe.Process(ctx, c.cmd) // only queues it
	}
	_, _ = pipe.Exec(ctx) // the first error of them all; each call has its own
}
