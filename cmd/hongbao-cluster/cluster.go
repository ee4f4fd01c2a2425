package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hongbao/store/loopback"
)

// keySettings are those that say which tokens are believed.
var keySettings = []string{"HONGBAO_JWT_SECRET", "HONGBAO_JWT_SECRET_FILE", "HONGBAO_JWT_PUBLIC_KEY", "HONGBAO_JWT_JWKS_URL"}

// size is how many instances there are.
const size = 3

// cluster is all that runs.
type cluster struct {
	binary string // of hongbao
	dir    string
	out    *lines
	secret string // of tokens, drawn here; empty: the environment has a key

	redis     *loopback.Redis
	postgres  *loopback.Postgres
	instances []*instance
	over      chan *instance // those that have ended
}

// play runs a cluster until ctx is done, and then takes it down: in good order, or at once when hurry is done too.
func play(ctx, hurry context.Context, binary string, out *lines) (err error) {
	dir, err := os.MkdirTemp("", "hongbao-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &cluster{binary: binary, dir: dir, out: out, secret: secret(), over: make(chan *instance, size)}
	defer func() { err = errors.Join(err, c.stop(hurry)) }()
	if err = c.start(ctx); err == nil {
		c.explain()
		err = c.follow(ctx)
	}
	if ctx.Err() != nil {
		err = nil // it ends because it was to end
	}
	return err
}

// secret is a new one, unless the environment says which tokens are believed.
func secret() string {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value != "" && slices.Contains(keySettings, name) {
			return ""
		}
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand stops the process instead
	return hex.EncodeToString(key)
}

// start returns when everything serves, or something does not. Then stop is still due.
func (c *cluster) start(ctx context.Context) error {
	c.out.say("starting Redis and Postgres in %s", c.dir)
	database, err := c.startServers(ctx)
	if err != nil {
		return err
	}
	addresses, err := freeAddresses(ctx, size)
	if err != nil {
		return err
	}
	for _, addr := range addresses {
		i, err := startInstance(c.binary, addr, c.environment(addr, database), c.out, c.over)
		if err != nil {
			return err
		}
		c.instances = append(c.instances, i)
	}
	for _, i := range c.instances {
		if err := i.serves(ctx); err != nil {
			return fmt.Errorf("%s: %w", i.url, err)
		}
	}
	return nil
}

// startServers starts both and makes a database.
func (c *cluster) startServers(ctx context.Context) (database string, err error) {
	var failed error
	var postgres sync.WaitGroup
	postgres.Go(func() { c.postgres, failed = loopback.StartPostgres(ctx, filepath.Join(c.dir, "postgres")) })
	c.redis, err = loopback.StartRedis(ctx, filepath.Join(c.dir, "redis"))
	postgres.Wait()
	if err = errors.Join(err, failed); err != nil {
		return "", err
	}
	return c.postgres.NewDatabase(ctx)
}

// environment is ours, so that any setting may be tried, but for what makes it a cluster.
func (c *cluster) environment(addr, database string) []string {
	variables := os.Environ()
	if os.Getenv("HONGBAO_DRAIN") == "" {
		variables = append(variables, "HONGBAO_DRAIN=2s") // nobody behind a load balancer needs longer
	}
	if c.secret != "" {
		variables = append(variables, "HONGBAO_JWT_SECRET="+c.secret)
	}
	return append(variables,
		"HONGBAO_ADDR="+addr, "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_GUESTS=local",
		"HONGBAO_REDIS_URL="+c.redis.URL(), "HONGBAO_DATABASE_URL="+database)
}

// explain says what there is, and what to do with it.
func (c *cluster) explain() {
	c.out.say("\nhongbao in %d instances over one Redis and one Postgres. Open several, they are one house:\n", size)
	for _, i := range c.instances {
		c.out.say("    %s   process %d", i.url, i.cmd.Process.Pid)
	}
	if c.secret != "" {
		c.out.say("\nGuests may come in. A token for a user of your own:\n\n    HONGBAO_JWT_SECRET=%s %s token --user alice", c.secret, c.binary)
	}
	c.out.say("\nEnd one of the processes, and the others go on. Ctrl-C stops everything and removes %s; a second one does not wait.\n", c.dir)
}

// follow returns when ctx is done, or nobody is left.
func (c *cluster) follow(ctx context.Context) error {
	for range c.instances {
		select {
		case <-ctx.Done():
			return nil
		case i := <-c.over:
			c.out.say("%s has ended: %v", i.url, i.cmd.ProcessState)
		}
	}
	return errors.New("no instance is left")
}

// stop ends the instances, and when they have ended the servers.
func (c *cluster) stop(hurry context.Context) error {
	c.out.say("stopping")
	failed := make([]error, len(c.instances))
	var all sync.WaitGroup
	for n, i := range c.instances {
		all.Go(func() { failed[n] = i.stop(hurry) })
	}
	all.Wait()
	if c.redis != nil {
		c.redis.Stop()
	}
	if c.postgres != nil {
		c.postgres.Stop()
	}
	return errors.Join(failed...)
}
