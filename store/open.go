package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/lineage"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/sqlitestore"
)

// These errors say that the data folder is the wrong one. The operator can correct that.
var (
	// ErrNoBooks means that the folder has no database.
	ErrNoBooks = errors.New("no database")
	// ErrFolderInUse means that another process serves from the folder. Two processes would not receive each other's
	// messages, because they have no bus.
	ErrFolderInUse = errors.New("another process serves from this folder")
)

// Config says which engines to use. With both URLs it is scaled mode, with neither embedded mode.
type Config struct {
	DataDir     string // folder of the embedded database; used without URLs
	RedisURL    string
	DatabaseURL string
}

// Scaled reports whether the configuration is scaled mode, so that there may be other instances.
func (c Config) Scaled() bool { return c.DatabaseURL != "" }

// Books holds the engines in SQL, which hold the truth about rooms and money.
type Books struct {
	Chat    chat.Store
	Ledger  redpacket.Ledger
	Lineage lineage.Store

	sql sqlEngine
}

// sqlEngine is implemented by pgstore and sqlitestore: rooms and money in one database.
type sqlEngine interface {
	chat.Store
	redpacket.Ledger
	lineage.Store
	// Setting returns the value that is stored under the name. If there is none, it stores and returns the result of
	// draw.
	Setting(ctx context.Context, name string, draw func() []byte) ([]byte, error)
	RecountCirculation(ctx context.Context) error
	// ChainRows adds the rows without a link to a hash chain, and returns their number.
	ChainRows(ctx context.Context) (int, error)
	io.Closer
}

// Engines holds all engines that a server needs.
type Engines struct {
	*Books
	Pool     redpacket.Pool
	Bus      hub.Bus // nil if there are no other instances
	Presence chat.Presence
	Limiter  chat.Limiter  // over all instances
	Local    chat.Limiter  // of this instance alone
	Notes    lineage.Notes // of all instances; nil if there are no other instances
	Name     string        // one line for the log

	ready func(context.Context) error // reports whether the engines other than Books can be reached
	other io.Closer
}

// Open opens all engines of a server. It creates the folder and the schema if there are none.
func Open(ctx context.Context, c Config, log *slog.Logger) (*Engines, error) {
	if c.Scaled() {
		return openScaled(ctx, c, log)
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock, err := lockFolder(c.DataDir)
	if err != nil {
		return nil, err
	}
	books, err := MakeBooks(ctx, c, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	limiter := memstore.NewLimiter(memstore.LimiterOptions{})
	return &Engines{
		Books:    books,
		Pool:     memstore.NewPool(memstore.Options{}),
		Presence: memstore.NewDirectory().Presence(),
		Limiter:  limiter,
		Local:    limiter,
		Name:     "embedded: SQLite in " + c.DataDir + ", all else in memory",
		ready:    func(context.Context) error { return nil },
		other:    lock,
	}, nil
}

func openScaled(ctx context.Context, c Config, log *slog.Logger) (*Engines, error) {
	redis, err := redisstore.Open(ctx, c.RedisURL, log)
	if err != nil {
		return nil, err
	}
	books, err := MakeBooks(ctx, c, log)
	if err != nil {
		return nil, errors.Join(err, redis.Close())
	}
	return &Engines{
		Books:    books,
		Pool:     redis.Pool(),
		Bus:      redis.Bus(),
		Presence: redis.Presence(),
		Limiter:  redis.Limiter(),
		Notes:    redis.Notes(),
		Local:    memstore.NewLimiter(memstore.LimiterOptions{}),
		Name:     "scaled: Postgres, " + redis.Name(),
		ready:    redis.Ready,
		other:    redis,
	}, nil
}

// MakeBooks opens only the engines in SQL and migrates their schema. If there is no database, it creates one.
func MakeBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	if c.Scaled() {
		sql, err := pgstore.Open(ctx, c.DatabaseURL, log)
		if err != nil {
			return nil, err
		}
		return &Books{Chat: sql, Ledger: sql, Lineage: sql, sql: sql}, nil
	}
	sql, err := sqlitestore.Open(ctx, c.DataDir, log)
	if err != nil {
		return nil, err
	}
	return &Books{Chat: sql, Ledger: sql, Lineage: sql, sql: sql}, nil
}

// OpenBooks opens only the engines in SQL, even while a server runs. If the folder has no database, it fails with
// ErrNoBooks.
func OpenBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	if c.Scaled() {
		return MakeBooks(ctx, c, log)
	}
	if err := c.findFile(); err != nil {
		return nil, err
	}
	return MakeBooks(ctx, c, log)
}

// Auditor checks the books of a database and writes nothing.
type Auditor interface {
	Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error)
	io.Closer
}

// OpenAuditor opens the database for an audit, even while a server runs. It does not migrate: a schema that is not up to
// date is an error. In scaled mode a role that may only select is enough, and the server may be a standby. If the folder
// has no database, it fails with ErrNoBooks.
func OpenAuditor(ctx context.Context, c Config, log *slog.Logger) (Auditor, error) {
	if c.Scaled() {
		return pgstore.OpenAuditor(ctx, c.DatabaseURL, log)
	}
	if err := c.findFile(); err != nil {
		return nil, err
	}
	return sqlitestore.OpenAuditor(ctx, c.DataDir)
}

// findFile returns ErrNoBooks if the folder has no database.
func (c Config) findFile() error {
	_, err := os.Stat(filepath.Join(c.DataDir, sqlitestore.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoBooks, c.DataDir)
	}
	return err
}

// Setting returns the value that is stored under the name. If there is none, it stores and returns the result of
// draw.
func (b *Books) Setting(ctx context.Context, name string, draw func() []byte) ([]byte, error) {
	return b.sql.Setting(ctx, name, draw)
}

// RecountCirculation counts the money in circulation again. It must be called after the last instance of an older
// version has stopped, because that version makes credits without counting them.
func (b *Books) RecountCirculation(ctx context.Context) error { return b.sql.RecountCirculation(ctx) }

// ChainRows adds the rows that an older version has written to a hash chain, and returns their number. Like
// RecountCirculation, it must be called after the last instance of that version has stopped.
func (b *Books) ChainRows(ctx context.Context) (int, error) { return b.sql.ChainRows(ctx) }

// Ready returns nil if the SQL database can be reached.
func (b *Books) Ready(ctx context.Context) error {
	_, err := b.Chat.Epoch(ctx)
	return err
}

// Close answers the queued calls and closes the engines in SQL.
func (b *Books) Close() error { return b.sql.Close() }

// Ready returns nil if all engines can be reached.
func (e *Engines) Ready(ctx context.Context) error {
	return errors.Join(e.Books.Ready(ctx), e.ready(ctx))
}

// Close closes all engines, those in SQL first, and releases the data folder.
func (e *Engines) Close() error { return errors.Join(e.Books.Close(), e.other.Close()) }
