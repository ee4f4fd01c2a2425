package loopback

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Citus is a Citus cluster: a coordinator, which clients connect to, and its workers, which hold the shards.
type Citus struct {
	Coordinator *Postgres
	Workers     []*Postgres
}

// ErrNoCitus means that Postgres on this machine lacks the extension.
var ErrNoCitus = errors.New("the extension citus is not installed for the Postgres of this machine; " +
	"see https://docs.citusdata.com/en/stable/installation/single_node.html")

// CitusInstalled returns an error that wraps ErrNoCitus if the Postgres of this machine lacks the extension. If there is no
// Postgres, it returns another error.
func CitusInstalled() error {
	postgres, err := PostgresProgram("postgres")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(postgres), "../lib/citus.so")); err != nil {
		return fmt.Errorf("%w (%w)", ErrNoCitus, err)
	}
	return nil
}

// StartCitus starts a coordinator and this many workers in the folder.
func StartCitus(ctx context.Context, dir string, workers int) (*Citus, error) {
	if err := CitusInstalled(); err != nil {
		return nil, err
	}
	nodes, errs := make([]*Postgres, 1+workers), make([]error, 1+workers)
	var starting sync.WaitGroup
	for i := range nodes {
		starting.Go(func() {
			nodes[i], errs[i] = startPostgres(ctx, nil, filepath.Join(dir, fmt.Sprintf("node%d", i)), "initdb", initArgs,
				"shared_preload_libraries=citus", "wal_level=logical", "max_prepared_transactions=400", "citus.max_client_connections=-1",
				"citus.node_conninfo=sslmode=disable")
		})
	}
	starting.Wait()
	c := &Citus{nodes[0], nodes[1:]}
	if err := errors.Join(errs...); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Citus) nodes() []*Postgres { return append([]*Postgres{c.Coordinator}, c.Workers...) }

// Stop stops all nodes.
func (c *Citus) Stop() {
	var stopping sync.WaitGroup
	for _, p := range c.nodes() {
		if p != nil {
			stopping.Go(p.Stop)
		}
	}
	stopping.Wait()
}

// NewDatabase creates an empty database that knows the workers, and returns its URL.
func (c *Citus) NewDatabase(ctx context.Context) (string, error) {
	url, err := c.Coordinator.NewDatabase(ctx)
	if err != nil {
		return "", err
	}
	return url, c.Extend(ctx, url)
}

// Extend makes a database of the coordinator a Citus database. It creates a database of the same name on each worker, and adds
// the workers to the coordinator's database.
func (c *Citus) Extend(ctx context.Context, url string) error {
	name := c.nameOf(url)
	for _, p := range c.Workers {
		if err := run(ctx, p.URL("postgres"), "create database "+name); err != nil {
			return err
		}
	}
	for _, p := range c.nodes() {
		if err := run(ctx, p.URL(name), "create extension citus"); err != nil {
			return err
		}
	}
	add := []string{"select citus_set_coordinator_host(" + hostAndPort(c.Coordinator) + ")"}
	for _, p := range c.Workers {
		add = append(add, "select citus_add_node("+hostAndPort(p)+")")
	}
	return run(ctx, url, add...)
}

// Freeze ends all connections to a database that NewDatabase has created, and refuses further ones. Then Copy can copy the
// database.
func (c *Citus) Freeze(ctx context.Context, url string) error {
	name := c.nameOf(url)
	return c.onEach(ctx, "alter database "+name+" with allow_connections false",
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = '"+name+"'")
}

// Copy copies a frozen database and returns the URL of the copy.
func (c *Citus) Copy(ctx context.Context, frozen string) (url string, err error) {
	name := newDatabaseName()
	return c.Coordinator.URL(name), c.onEach(ctx, "create database "+name+" template "+c.nameOf(frozen))
}

// DropDatabase removes a database that Copy has created. It tries again after a failure, because the maintenance daemon of
// Citus may have connected meanwhile.
func (c *Citus) DropDatabase(ctx context.Context, url string) error {
	return waitUntil(ctx, c.Coordinator.current(), func(ctx context.Context) error {
		return c.onEach(ctx, "drop database if exists "+c.nameOf(url)+" with (force)")
	})
}

func (c *Citus) onEach(ctx context.Context, statements ...string) error {
	errs := make([]error, 1+len(c.Workers))
	var running sync.WaitGroup
	for i, p := range c.nodes() {
		running.Go(func() { errs[i] = run(ctx, p.URL("postgres"), statements...) })
	}
	running.Wait()
	return errors.Join(errs...)
}

func (c *Citus) nameOf(url string) string {
	_, name, _ := strings.Cut(strings.TrimSuffix(url, "?sslmode=disable"), c.Coordinator.Addr()+"/")
	return name
}

func hostAndPort(p *Postgres) string { return fmt.Sprintf("'127.0.0.1', %d", p.port.number) }
