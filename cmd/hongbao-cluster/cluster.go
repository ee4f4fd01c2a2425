package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"hongbao/store/loopback"
)

// size is the number of instances.
const size = 3

// cluster is the running instances, and the Redis and Postgres that they use.
type cluster struct {
	binary   string // of hongbao
	dir      string
	out      *lines
	guestKey string // random, signs the tokens of guests

	redis     *loopback.Redis
	postgres  *loopback.Postgres
	instances []*instance
	ended     chan *instance
}

// run runs a cluster until ctx ends, and then stops it gracefully. When hurry ends too, it stops at once.
func run(ctx, hurry context.Context, binary string, out *lines) (err error) {
	dir, err := os.MkdirTemp("", "hongbao-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &cluster{binary: binary, dir: dir, out: out, guestKey: randomKey(), ended: make(chan *instance, size)}
	defer func() { err = errors.Join(err, c.stop(hurry)) }()
	if err = c.start(ctx); err == nil {
		c.printUsage()
		err = c.wait(ctx)
	}
	if ctx.Err() != nil {
		err = nil // the stop was requested
	}
	return err
}

func randomKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand stops the process instead
	return hex.EncodeToString(key)
}

// start returns when all instances serve, or with the first error. The caller must call stop in either case.
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
		i, err := startInstance(c.binary, addr, c.environment(addr, database), c.out, c.ended)
		if err != nil {
			return err
		}
		c.instances = append(c.instances, i)
	}
	for _, i := range c.instances {
		if err := i.awaitServing(ctx); err != nil {
			return fmt.Errorf("%s: %w", i.url, err)
		}
	}
	return nil
}

// startServers starts Redis and Postgres and creates a database.
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

// environment returns the variables of an instance: those of this process, so that settings can be tried, and those that make the
// instances a cluster, which win.
func (c *cluster) environment(addr, database string) []string {
	variables := []string{"HONGBAO_DRAIN=2s", "HONGBAO_DRAIN_DELAY=0s"} // few sockets and no load balancer: Ctrl-C need not take long
	return append(append(variables, os.Environ()...),
		"HONGBAO_ADDR="+addr, "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_GUESTS=local", "HONGBAO_GUEST_KEY="+c.guestKey,
		"HONGBAO_REDIS_URL="+c.redis.URL(), "HONGBAO_DATABASE_URL="+database)
}

// printUsage prints the addresses and what to do with them.
func (c *cluster) printUsage() {
	c.out.say("\nhongbao in %d instances over one Redis and one Postgres. Open several, they share all rooms:\n", size)
	for _, i := range c.instances {
		c.out.say("    %s   process %d", i.url, i.cmd.Process.Pid)
	}
	c.out.say("\nGuests may sign in. To try tokens of your own, set HONGBAO_JWT_SECRET and start again: then guests have no play money.")
	c.out.say("\nEnd one of the processes, and the others go on. Ctrl-C stops everything and removes %s; a second one does not wait.\n", c.dir)
}

// wait returns when ctx ends, or with an error when all instances have ended.
func (c *cluster) wait(ctx context.Context) error {
	for range c.instances {
		select {
		case <-ctx.Done():
			return nil
		case i := <-c.ended:
			c.out.say("%s has ended: %v", i.url, i.cmd.ProcessState)
		}
	}
	return errors.New("no instance is left")
}

// stop stops the instances, then the servers.
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
