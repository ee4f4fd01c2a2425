package loopback

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Postgres is one Postgres server. Every client connects as the user postgres. As in production, commits are forced
// to disk (fsync).
type Postgres struct{ *daemon }

// StartPostgres starts a server in the folder, with the databases that an earlier server left there. If this process
// runs as root, the server runs as user postgres, and that user must be able to reach the folder.
func StartPostgres(ctx context.Context, dir string) (*Postgres, error) {
	return (*Clock)(nil).StartPostgres(ctx, dir)
}

// StartPostgresWith is StartPostgres with more settings, like name=value.
func StartPostgresWith(ctx context.Context, dir string, settings ...string) (*Postgres, error) {
	return startPostgres(ctx, nil, dir, "initdb", initArgs, settings...)
}

// StartPostgresForMany is StartPostgres for a server with hundreds of databases. Autovacuum is off, because it would visit all of them
// again and again.
func StartPostgresForMany(ctx context.Context, dir string) (*Postgres, error) {
	return StartPostgresWith(ctx, dir, "autovacuum=off")
}

// StartPostgres does what the function StartPostgres does, and gives the server this clock. Its standbys have the clock,
// too.
func (c *Clock) StartPostgres(ctx context.Context, dir string) (*Postgres, error) {
	return startPostgres(ctx, c, dir, "initdb", initArgs)
}

func initArgs(begun string) []string {
	return []string{"-D", begun, "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync"}
}

// startPostgres starts a server in the folder, with settings like name=value. If the folder has no data yet, startPostgres
// first runs the program creator, which creates the data. args returns the arguments of that program for the folder to fill.
func startPostgres(ctx context.Context, clock *Clock, dir, creator string, args func(begun string) []string, settings ...string) (*Postgres, error) {
	server, err := PostgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	data, err := createData(ctx, dir, as, creator, args)
	if err != nil {
		return nil, err
	}
	p := &Postgres{&daemon{
		name: "postgres", dir: dir, as: as, clock: clock, stopSignal: syscall.SIGINT, ready: accepts,
		command: func(port int) []string {
			command := []string{
				server, "-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1",
				"-c", "unix_socket_directories=", "-c", "max_connections=400", "-c", "fsync=on",
			}
			for _, setting := range settings {
				command = append(command, "-c", setting)
			}
			return command
		},
	}}
	if err := p.launch(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// createData creates the data of a server in the folder, if there are none yet. It returns the folder of the data.
func createData(ctx context.Context, dir string, as *account, creator string, args func(begun string) []string) (data string, err error) {
	create, err := PostgresProgram(creator)
	if err != nil {
		return "", err
	}
	if err := as.own(dir); err != nil {
		return "", err
	}
	data = filepath.Join(dir, "data")
	return data, initialize(ctx, data, as, func(begun string) []string { return append([]string{create}, args(begun)...) })
}

// PostgresProgram returns the path of a program of Postgres, such as pg_dump, of the version that StartPostgres starts.
func PostgresProgram(name string) (string, error) {
	initdb, err := program("initdb")
	if err != nil {
		return "", err
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(initdb), name), nil
}

// initialize creates the server's data folder with a command, unless the folder exists. The command writes to another
// folder, which is renamed when it is complete. So after a failure there is no data folder.
func initialize(ctx context.Context, data string, as *account, command func(begun string) []string) error {
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun, dir := data+".new", filepath.Dir(data)
	if err := os.RemoveAll(begun); err != nil {
		return err
	}
	args := command(begun)
	name := filepath.Base(args[0])
	log := filepath.Join(dir, name+".log")
	p, err := startProcess(args, dir, log, as, nil)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("%s: %w", name, ctx.Err())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %s; %s", name, p.cmd.ProcessState, logTail(log))
	}
	return os.Rename(begun, data)
}

// URL returns the URL of a database.
func (p *Postgres) URL(database string) string { return databaseURL(p.Addr(), database) }

// NewDatabase creates an empty database and returns its URL.
func (p *Postgres) NewDatabase(ctx context.Context) (string, error) {
	name := newDatabaseName()
	return p.URL(name), run(ctx, p.URL("postgres"), "create database "+name)
}

func newDatabaseName() string { return "hongbao_" + strings.ToLower(rand.Text()[:12]) }

// run runs statements without results on a connection of its own.
func run(ctx context.Context, url string, statements ...string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the result is known already
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func databaseURL(addr, database string) string {
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", addr, database)
}

// accepts returns nil when a client can connect.
func accepts(ctx context.Context, addr string) error {
	c, err := pgx.Connect(ctx, databaseURL(addr, "postgres"))
	if err != nil {
		return err
	}
	return c.Close(ctx)
}
