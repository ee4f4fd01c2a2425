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
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/sqlitestore"
)

// What a person can mend: the folder is the wrong one.
var (
	// ErrNoBooks means that there is no database where one was to be looked at.
	ErrNoBooks = errors.New("no database")
	// ErrFolderInUse means that another process serves from the folder. Two would not hear each other: they
	// have no bus in common.
	ErrFolderInUse = errors.New("another process serves from this folder")
)

// Config says where the engines are: both URLs, or neither.
type Config struct {
	DataDir     string // folder of the embedded database, without the URLs
	RedisURL    string
	DatabaseURL string
}

// Scaled tells whether there may be other instances.
func (c Config) Scaled() bool { return c.DatabaseURL != "" }

// Books are the durable engines: the truth about rooms and money.
type Books struct {
	Chat   chat.Store
	Ledger redpacket.Ledger

	sql sqlEngine
}

// sqlEngine keeps both contracts in one database.
type sqlEngine interface {
	chat.Store
	redpacket.Ledger
	// Setting gives the value first put under the name; the first who asks puts what draw makes.
	Setting(ctx context.Context, name string, draw func() []byte) ([]byte, error)
	io.Closer
}

// Engines are all that the services need.
type Engines struct {
	*Books
	Pool     redpacket.Pool
	Bus      hub.Bus // nil: there are no other instances
	Presence chat.Presence
	Limiter  chat.Limiter // of all instances
	Local    chat.Limiter // of this instance alone
	Name     string       // all of them in one line, for the log

	ready func(context.Context) error // of those besides the books
	other io.Closer
}

// Open opens all engines, to serve with. It makes what is missing.
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
		Local:    memstore.NewLimiter(memstore.LimiterOptions{}),
		Name:     "scaled: Postgres, " + redis.Name(),
		ready:    redis.Ready,
		other:    redis,
	}, nil
}

// MakeBooks opens the durable engines alone and brings their schema up to date. It makes what is missing.
func MakeBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	if c.Scaled() {
		sql, err := pgstore.Open(ctx, c.DatabaseURL, log)
		if err != nil {
			return nil, err
		}
		return &Books{Chat: sql, Ledger: sql, sql: sql}, nil
	}
	sql, err := sqlitestore.Open(ctx, c.DataDir, log)
	if err != nil {
		return nil, err
	}
	return &Books{Chat: sql, Ledger: sql, sql: sql}, nil
}

// OpenBooks opens the durable engines alone, beside a running server or without one. An embedded database must exist:
// ErrNoBooks.
func OpenBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	if c.Scaled() {
		return MakeBooks(ctx, c, log)
	}
	_, err := os.Stat(filepath.Join(c.DataDir, sqlitestore.FileName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w in %s", ErrNoBooks, c.DataDir)
	case err != nil:
		return nil, err
	}
	return MakeBooks(ctx, c, log)
}

// Setting gives the value first put under the name; the first who asks puts what draw makes.
func (b *Books) Setting(ctx context.Context, name string, draw func() []byte) ([]byte, error) {
	return b.sql.Setting(ctx, name, draw)
}

// Ready tells whether the books can be reached.
func (b *Books) Ready(ctx context.Context) error {
	_, err := b.Chat.Epoch(ctx)
	return err
}

// Close closes the durable engines; what is queued is answered first.
func (b *Books) Close() error { return b.sql.Close() }

// Ready tells whether all engines can be reached.
func (e *Engines) Ready(ctx context.Context) error {
	return errors.Join(e.Books.Ready(ctx), e.ready(ctx))
}

// Close closes all engines, the durable ones first, and gives an embedded database's folder free.
func (e *Engines) Close() error { return errors.Join(e.Books.Close(), e.other.Close()) }
