package nodes

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// checkTimeout bounds one round of checks.
	checkTimeout = 3 * time.Second
	// The pause between two rounds while a node is not fit grows from minRecheck to maxRecheck, each varied by half at
	// random.
	minRecheck = 100 * time.Millisecond
	maxRecheck = time.Second
	// repeatEvery is the pause before an unfit node is logged again.
	repeatEvery = time.Minute
)

// Checks keeps scripts away from each node until the node has been probed once and found fit. FirstRound makes
// the first round of checks. Nodes that cannot be reached then, or that a cluster gains later, are checked in the
// background. It is safe for concurrent use. A nil *Checks lets every call pass.
type Checks struct {
	// immutable after NewChecks
	client  redis.UniversalClient
	cluster bool
	name    string // of the whole Redis installation, for errors and logs
	log     *slog.Logger

	wake chan struct{} // has one slot; a token asks for a round of checks
	open atomic.Bool   // at least one node has been found fit

	degraded bool // owned by FirstRound, then by Run: a check has failed, and the recovery is not logged yet

	mu      sync.Mutex
	lastErr error                 // guarded by mu; all failures of the last round of checks
	nodes   map[string]*nodeCheck // guarded by mu; by address
}

// nodeCheck is the state of one node. Once fit is true it stays true.
type nodeCheck struct {
	checks *Checks
	addr   string
	fit    atomic.Bool

	// guarded by checks.mu
	client  *redis.Client
	needed  bool  // a script call to it was refused since the last round of checks
	lastErr error // error of the node's last check; nil: no check yet, or the node is fit
}

// errNotOpen is the error of a call while no node has been found fit.
var errNotOpen = errors.New("no node has been checked yet")

// refusedError is the error of a call to a node that has not been found fit. Its cause is nil until the node's first
// check has ended.
type refusedError struct {
	addr  string
	cause error
}

func (e *refusedError) Error() string {
	if e.cause == nil {
		return "node " + e.addr + " is being checked"
	}
	return "node " + e.addr + " is not used: " + e.cause.Error() // no %w: the cause must not be mistaken for the error of this call
}

// NewChecks adds a check to each node of the client, as a hook. The client must not have been used before.
func NewChecks(client redis.UniversalClient, name string, log *slog.Logger) *Checks {
	c := &Checks{client: client, cluster: Sharded(client), name: name, log: log, wake: make(chan struct{}, 1), nodes: map[string]*nodeCheck{}}
	guard := func(node *redis.Client) { node.AddHook(c.node(node)) }
	switch client := client.(type) {
	case *redis.ClusterClient:
		client.OnNewNode(guard)
	case *redis.Client:
		guard(client)
	}
	return c
}

// node returns the check of the client's node. It remembers the client, which later probes use.
func (c *Checks) node(client *redis.Client) *nodeCheck {
	addr := client.Options().Addr
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[addr]
	if n == nil {
		n = &nodeCheck{checks: c, addr: addr}
		c.nodes[addr] = n
	}
	n.client = client
	return n
}

// Err returns why no call can be made at all. It is nil when at least one node has been found fit.
func (c *Checks) Err() error {
	if c == nil || c.open.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("%w: %v", errNotOpen, c.lastErr) //nolint:errorlint // the cause must not be mistaken for the error of this call
}

// Ready returns nil if Redis answers and has been found fit. In a cluster this must be true of every master.
func (c *Checks) Ready(ctx context.Context) error {
	if err := c.Err(); err != nil {
		return err
	}
	return EachMaster(ctx, c.client, func(ctx context.Context, node *redis.Client) error {
		if err := c.node(node).refused(); err != nil {
			return err
		}
		return node.Ping(ctx).Err()
	})
}

// FirstRound makes the first round of checks. It fails if a node is unfit or ctx ends. Nodes that cannot be reached
// are checked again by Run.
func (c *Checks) FirstRound(ctx context.Context) error {
	failures := c.round(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range failures {
		if !unreachable(err) {
			return err
		}
	}
	if len(failures) > 0 {
		c.log.Warn("Redis cannot be reached; chat works, grabs answer unavailable until it can", "redis", c.name, "err", errors.Join(failures...))
		c.degraded = true
		c.askRound()
	}
	return nil
}

// Run makes a round of checks whenever askRound requests one. It repeats the round until no node fails. It returns
// when ctx ends.
func (c *Checks) Run(ctx context.Context) {
	var logged time.Time
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		began, wait := time.Now(), minRecheck
		for failures := c.round(ctx); len(failures) > 0; failures = c.round(ctx) {
			c.degraded = true
			for _, err := range failures {
				if !unreachable(err) && time.Since(logged) >= repeatEvery {
					logged = time.Now()
					c.log.Error("Redis is unfit and not used; grabs answer unavailable until it is repaired", "redis", c.name, "err", err)
				}
			}
			select {
			case <-time.After(wait/2 + rand.N(wait)):
			case <-ctx.Done():
				return
			}
			wait = min(2*wait, maxRecheck)
		}
		if c.degraded && ctx.Err() == nil {
			c.degraded = false
			c.log.Info("all nodes of Redis are checked and used", "redis", c.name, "after", time.Since(began).Round(time.Millisecond))
		}
	}
}

// askRound requests a round of checks. It never blocks.
func (c *Checks) askRound() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// round checks the nodes that unchecked returns. It returns a failure for each master that is unfit or cannot be
// reached, and one if the nodes cannot be listed.
func (c *Checks) round(ctx context.Context) (failures []error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	masters := map[*nodeCheck]bool{}
	var mu sync.Mutex
	err := EachMaster(ctx, c.client, func(_ context.Context, node *redis.Client) error {
		n := c.node(node)
		mu.Lock()
		defer mu.Unlock()
		masters[n] = true
		return nil
	})
	if err != nil {
		failures = append(failures, fmt.Errorf("find the nodes: %w", err))
	}
	var running sync.WaitGroup
	for _, n := range c.unchecked(masters) {
		running.Go(func() {
			err := n.check(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && masters[n] {
				failures = append(failures, err)
			}
		})
	}
	running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastErr = errors.Join(failures...)
	return failures
}

// unchecked returns the nodes to check now. These are nodes not found fit yet: the masters, and those for which refuse
// has rejected a script since the last round.
func (c *Checks) unchecked(masters map[*nodeCheck]bool) (list []*nodeCheck) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if !n.fit.Load() && (n.needed || masters[n]) {
			n.needed = false
			list = append(list, n)
		}
	}
	return list
}

// check probes the node and stores the result.
func (n *nodeCheck) check(ctx context.Context) error {
	c := n.checks
	c.mu.Lock()
	client := n.client
	c.mu.Unlock()
	err := probe(context.WithValue(ctx, probing{}, true), client, c.cluster, c.log)
	if err == nil {
		n.fit.Store(true)
		c.open.Store(true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.lastErr = err
	return err
}

// refused returns nil if the node has been found fit. Otherwise it requests a round of checks and returns an error.
func (n *nodeCheck) refused() error {
	if n.fit.Load() {
		return nil
	}
	n.checks.askRound()
	n.checks.mu.Lock()
	defer n.checks.mu.Unlock()
	return &refusedError{addr: n.addr, cause: n.lastErr}
}

// probing is a context key. It marks a probe's own commands, which are sent to a node before it is found fit.
type probing struct{}

// refuse returns why a command must not be sent to the node now, or nil.
func (n *nodeCheck) refuse(ctx context.Context, cmds ...redis.Cmder) error {
	if n.fit.Load() || ctx.Value(probing{}) != nil {
		return nil
	}
	scripts := false
	for _, cmd := range cmds {
		scripts = scripts || cmd.Name() == "evalsha" || cmd.Name() == "eval"
	}
	if !scripts {
		return nil // only scripts decide grabs, so other commands may go to an unchecked node
	}
	n.checks.mu.Lock()
	n.needed = true
	n.checks.mu.Unlock()
	return n.refused()
}

// DialHook implements redis.Hook.
func (n *nodeCheck) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (n *nodeCheck) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !n.fit.Load() { // avoids allocating the arguments of refuse in the usual case
			if err := n.refuse(ctx, cmd); err != nil {
				cmd.SetErr(err)
				return err
			}
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (n *nodeCheck) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := n.refuse(ctx, cmds...); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

// probeScript returns what judge reads. Like a grab it needs the right to call INFO in a script.
const probeScript = `return redis.call('INFO', 'server') .. redis.call('INFO', 'replication') .. redis.call('INFO', 'memory')`

// probe checks a node before it is used. An error of type *unfitError means that the node answers, but cannot do the
// work.
func probe(ctx context.Context, node *redis.Client, isCluster bool, log *slog.Logger) error {
	info, err := probeInfo(ctx, node)
	if err != nil {
		return err
	}
	if err := judge(info, isCluster, node.Options().Addr, log); err != nil {
		return &unfitError{err}
	}
	return nil
}

// probeInfo returns what judge reads.
func probeInfo(ctx context.Context, node *redis.Client) (info string, err error) {
	if err := node.Ping(ctx).Err(); err != nil {
		return "", err
	}
	info, err = node.Eval(ctx, probeScript, nil).Text()
	if err != nil && !unreachable(err) {
		err = fmt.Errorf("scripts must be allowed to call INFO (in an ACL: +info +eval +evalsha): %w", err)
	}
	return info, err
}

// unfitError is the reason why a node that answers cannot do the work.
type unfitError struct{ err error }

func (e *unfitError) Error() string { return e.err.Error() }

func (e *unfitError) Unwrap() error { return e.err }

// unreachable reports whether a probe failed because the node did not answer, or answered that it will soon be ready.
// It is false when an operator has to change something: the node refused the command, is unfit, or its certificate is
// not accepted.
func unreachable(err error) bool {
	var unfit *unfitError
	var answer redis.Error
	var certificate *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unfit), errors.As(err, &certificate), errors.As(err, &plain):
		return false
	case errors.As(err, &answer):
		return transient(err)
	default:
		return true
	}
}

// judge returns an error if INFO shows that the node cannot do the work. It warns if the node may evict packets.
func judge(info string, isCluster bool, addr string, log *slog.Logger) error {
	if err := unfit(info, isCluster, addr); err != nil {
		return err
	}
	if flaw := evictionFlaw(info); flaw != "" {
		log.Warn(flaw+"; set maxmemory-policy noeviction", "node", addr, "policy", field(info, "maxmemory_policy"))
	}
	return nil
}

// unfit returns an error if INFO shows that the node cannot do the work.
func unfit(info string, isCluster bool, addr string) error {
	version := field(info, "redis_version")
	need, feature := 6.2, "ZADD LT"
	if isCluster {
		need, feature = 7.0, "sharded pub/sub"
	}
	if have, err := majorMinor(version); err != nil || have < need {
		return fmt.Errorf("node %s is Redis %q: %.1f or later is needed (%s)", addr, version, need, feature)
	}
	if field(info, "role") != "master" {
		return fmt.Errorf("node %s is a replica: name its master, or use redis+sentinel://", addr)
	}
	if field(info, "master_replid") == "" {
		return errors.New("INFO does not tell the replication id, so a failover would go unnoticed")
	}
	return nil
}

// evictionFlaw returns why the node may evict packets, or "".
func evictionFlaw(info string) string {
	switch policy := field(info, "maxmemory_policy"); policy {
	case "noeviction":
		return ""
	case "":
		return "Redis does not tell its maxmemory-policy, and may forget open packets"
	default:
		return "Redis may evict open packets (" + policy + "), which costs work and delay"
	}
}

// field returns the value of a line "name:value" of INFO.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// majorMinor parses "7.0.15" as 7.0. Minor versions of Redis have one digit.
func majorMinor(version string) (float64, error) {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strconv.ParseFloat(major+"."+minor, 64)
}
