package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/loopback"
)

// tmpfsSize is the size of a server's disk where a disk can be made that is full soon.
const tmpfsSize = 768 << 20

// postgres is a primary with a synchronous and an asynchronous standby. Each has a disk of its own if this process may make one. With
// -chaos.citus it is a Citus cluster, and the primary is its coordinator.
type postgres struct {
	dir      string
	clock    *loopback.Clock // of all servers
	database string          // name of the instances' database
	citus    *loopback.Citus // nil: a primary with standbys

	mu                   sync.Mutex // guards the fields below
	primary, sync, async *loopback.Postgres
	disks                map[*loopback.Postgres]string // folders, mounted or not
	servers              int                           // number of servers so far
	limited              bool                          // disks are small file systems of their own
}

func startPostgres(ctx context.Context, dir string, clock *loopback.Clock) (p *postgres, err error) {
	p = &postgres{dir: dir, clock: clock, disks: map[*loopback.Postgres]string{}}
	if *citus {
		return p, p.startCitus(ctx)
	}
	if p.primary, err = p.start(ctx, clock.StartPostgres); err != nil {
		return p, err
	}
	// Disks are small, so old WAL must go soon. A standby that was away for a moment must still find its WAL.
	for _, setting := range []string{"max_wal_size = '128MB'", "wal_keep_size = '64MB'"} {
		if err := p.execute(ctx, "postgres", "alter system set "+setting); err != nil {
			return p, err
		}
	}
	if err := p.execute(ctx, "postgres", "select pg_reload_conf()"); err != nil {
		return p, err
	}
	url, err := p.primary.NewDatabase(ctx)
	if err != nil {
		return p, err
	}
	if err := p.use(url); err != nil {
		return p, err
	}
	return p, p.rebuild(ctx)
}

// use makes the database that of the instances.
func (p *postgres) use(url string) error {
	config, err := pgx.ParseConfig(url)
	if err == nil {
		p.database = config.Database
	}
	return err
}

func (p *postgres) startCitus(ctx context.Context) (err error) {
	if err = os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	if p.citus, err = loopback.StartCitus(ctx, p.dir, 2); err != nil {
		return err
	}
	p.primary = p.citus.Coordinator
	url, err := p.citus.NewDatabase(ctx)
	if err != nil {
		return err
	}
	return p.use(url)
}

// newDisk makes a folder for a server.
func (p *postgres) newDisk() (disk string, err error) {
	p.servers++
	disk = filepath.Join(p.dir, fmt.Sprint("postgres", p.servers))
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return "", err
	}
	p.limited = mountSmallDisk(disk, tmpfsSize) == nil
	return disk, nil
}

func removeDisk(disk string) {
	_ = unmountDisk(disk)
	_ = os.RemoveAll(disk)
}

// start starts a server on a disk of its own.
func (p *postgres) start(ctx context.Context, start func(context.Context, string) (*loopback.Postgres, error)) (*loopback.Postgres, error) {
	disk, err := p.newDisk()
	if err != nil {
		return nil, err
	}
	return p.startOn(ctx, disk, start)
}

// startOn starts a server on a disk. If it fails, the disk is removed.
func (p *postgres) startOn(ctx context.Context, disk string, start func(context.Context, string) (*loopback.Postgres, error)) (*loopback.Postgres, error) {
	server, err := start(ctx, disk)
	if err != nil {
		removeDisk(disk)
		return nil, err
	}
	p.disks[server] = disk
	return server, nil
}

// rebuild starts two standbys of the primary, and lets commits wait for one of them.
func (p *postgres) rebuild(ctx context.Context) (err error) {
	if p.sync, err = p.start(ctx, p.primary.StartStandby); err != nil {
		return err
	}
	if p.async, err = p.start(ctx, p.primary.StartStandby); err != nil {
		return err
	}
	return p.primary.SetSynchronous(ctx, p.sync)
}

// succeed kills the primary. The server that begin returns takes its place, and has no standbys yet.
func (p *postgres) succeed(ctx context.Context, begin func() (*loopback.Postgres, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.primary.Kill()
	next, err := begin()
	if err != nil {
		return err
	}
	if err := next.SetSynchronous(ctx, nil); err != nil {
		return err
	}
	for _, server := range []*loopback.Postgres{p.primary, p.sync, p.async} {
		if server != next {
			p.drop(server)
		}
	}
	p.primary, p.sync, p.async = next, nil, nil
	return nil
}

// renew starts new standbys of a new primary.
func (p *postgres) renew(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rebuild(ctx)
}

// backup copies the primary to a disk of its own.
func (p *postgres) backup(ctx context.Context) (disk string, err error) {
	p.mu.Lock()
	primary := p.primary
	disk, err = p.newDisk()
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	if err = primary.Backup(ctx, disk); err != nil {
		removeDisk(disk)
	}
	return disk, err
}

// drop stops a server and removes its disk.
func (p *postgres) drop(server *loopback.Postgres) {
	if server == nil {
		return
	}
	server.Resume()
	server.Kill()
	server.Stop()
	removeDisk(p.disks[server])
	delete(p.disks, server)
}

func (p *postgres) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.citus != nil {
		p.citus.Stop()
		return
	}
	for _, server := range []*loopback.Postgres{p.async, p.sync, p.primary} {
		p.drop(server)
	}
}

// current returns the present primary.
func (p *postgres) current() *loopback.Postgres {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.primary
}

func (p *postgres) addr() string { return p.current().Addr() }

// connect returns a connection to the primary, directly.
func (p *postgres) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, p.current().URL(database))
}

func (p *postgres) execute(ctx context.Context, database, statement string) error {
	c, err := p.connect(ctx, database)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	_, err = c.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// executeAtLast repeats a statement until it succeeds, for a minute.
func (p *postgres) executeAtLast(ctx context.Context, statement string) (err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if err = p.execute(ctx, p.database, statement); err == nil {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return err
}

// fillDisk takes all space of the primary's disk. The returned function gives it back.
func (p *postgres) fillDisk() (free func(), err error) {
	p.mu.Lock()
	disk := p.disks[p.primary]
	p.mu.Unlock()
	name := filepath.Join(disk, "ballast")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	free = func() { _ = f.Close(); _ = os.Remove(name) }
	written := 0
	for block := make([]byte, 1<<20); len(block) > 4096; {
		n, err := f.Write(block)
		if written += n; err != nil {
			block = block[:len(block)/2] // fill the rest, too
		}
		if written > 2*tmpfsSize {
			free()
			return nil, fmt.Errorf("%s is larger than %d bytes", disk, tmpfsSize)
		}
	}
	return free, nil
}
