package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"hongbao/chat"
	"hongbao/chat/archive"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/store/chart"
	"hongbao/store/eventlog"
	"hongbao/store/lineage"
	"hongbao/store/memstore"
	"hongbao/store/objects"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/secret"
	"hongbao/store/security"
	"hongbao/store/sqlitestore"
	"hongbao/store/trail"
)

// These errors mean that the data folder cannot be used now. The operator can correct the cause.
var (
	// ErrNoBooks means that the folder has no database.
	ErrNoBooks = errors.New("no database")
	// ErrFolderInUse means that another process serves from the folder, or copies its database. Two servers would not receive
	// each other's messages, because they have no bus.
	ErrFolderInUse = errors.New("another process serves from this folder")
)

// Config says which engines to use. With a DatabaseURL it is scaled mode, and Open then also needs a RedisURL. Without a
// DatabaseURL it is embedded mode.
type Config struct {
	DataDir     string // folder of the embedded database; in scaled mode only Copy uses it
	RedisURL    string
	DatabaseURL string
	DataKeyFile string         // see Books.UseDataKey
	Events      eventlog.Kinds // kinds that are written to the event stream
	// Files says where files are stored. An empty Address is the folder files in DataDir, or no files in scaled mode; "off" is no files.
	Files FilesConfig
	// Migrate says what Open does with the schema. Empty: Open migrates the schema.
	Migrate migrations.Mode
}

// FilesConfig says where files are stored.
type FilesConfig = objects.Config

// Scaled reports whether the configuration is scaled mode, so that there may be other instances.
func (c Config) Scaled() bool { return c.DatabaseURL != "" }

// Books holds the engines in SQL, which hold the truth about rooms and money.
type Books struct {
	Chat     chat.Store
	Ledger   redpacket.Ledger
	Lineage  lineage.Store
	Security security.Store
	Trail    trail.Store
	Charts   chart.Store
	Events   Events
	Fundings redpacket.Fundings
	Files    files.Rows

	sql   sqlEngine
	keys  *secret.Keys                         // nil until UseDataKey has found any
	after func(time.Duration) <-chan time.Time // nil: time.After. A test ends the pause of EncryptSeeds by it
}

// Events holds the event stream, its consumers, and the absences of users.
type Events interface {
	eventlog.Store
	eventlog.Consumers
	eventlog.Absences
}

// sqlEngine is implemented by pgstore and sqlitestore: rooms and money in one database.
type sqlEngine interface {
	archive.Store
	redpacket.Ledger
	lineage.Store
	security.Store
	trail.Store
	chart.Store
	Events
	redpacket.Fundings
	files.Rows
	// Setting returns the value that is stored under the name, or nil.
	Setting(ctx context.Context, name string) ([]byte, error)
	// DrawSetting returns the value that is stored under the name. If there is none, it stores and returns the result of draw.
	DrawSetting(ctx context.Context, name string, draw func() []byte) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte) error
	UseKeys(keys *secret.Keys)
	EncryptSeeds(ctx context.Context) (secret.Reencrypted, error)
	OpenPacketsByKey(ctx context.Context) (map[string]int, error)
	CheckSchema(ctx context.Context) error
	Meters() meter.Engines
	io.Closer
}

// Engines holds all engines that a server needs.
type Engines struct {
	*Books
	Pool     redpacket.Pool
	Bus      hub.Bus // nil in embedded mode, which has one instance
	Presence chat.Presence
	Limiter  chat.Limiter  // counts for all instances together
	Local    chat.Limiter  // counts for this instance alone
	Notes    lineage.Notes // of all instances; nil in embedded mode
	Objects  files.Objects // contents of files; nil: there are no files
	Scans    int           // how many reads of very many rows may run at once; so connections stay free for other calls
	Name     string        // one line for the log

	// RedisReady returns nil if Redis can be reached and used, or if there is none.
	RedisReady func(context.Context) error
	// Meters returns what the engines measure. It sends no request to Postgres or Redis.
	Meters func() meter.Engines

	other io.Closer
}

// Open opens all engines of a server. In embedded mode it creates the folder if there is none, and fails with ErrFolderInUse
// if another process serves from it. Config.Migrate says what it does with the schema.
func Open(ctx context.Context, c Config, log *slog.Logger) (*Engines, error) {
	engines, err := openEngines(ctx, c, log)
	if err != nil {
		return nil, err
	}
	engines.Objects, err = c.openObjects()
	if err == nil && engines.Objects != nil {
		err = objects.Check(ctx, engines.Objects)
	}
	if err != nil {
		return nil, errors.Join(err, engines.Close())
	}
	return engines, nil
}

func openEngines(ctx context.Context, c Config, log *slog.Logger) (*Engines, error) {
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
	books, err := makeKeyedBooks(ctx, c, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	limiter := memstore.NewLimiter(memstore.LimiterOptions{})
	return &Engines{
		Books:      books,
		Pool:       memstore.NewPool(memstore.Options{}),
		Presence:   memstore.NewDirectory().Presence(),
		Limiter:    limiter,
		Local:      limiter,
		Scans:      2, // of the 4 connections that read
		Name:       "embedded: SQLite in " + c.DataDir + ", all else in memory",
		RedisReady: func(context.Context) error { return nil },
		Meters:     books.sql.Meters,
		other:      lock,
	}, nil
}

func openScaled(ctx context.Context, c Config, log *slog.Logger) (*Engines, error) {
	redis, err := redisstore.Open(ctx, c.RedisURL, log)
	if err != nil {
		return nil, err
	}
	books, err := makeKeyedBooks(ctx, c, log)
	if err != nil {
		return nil, errors.Join(err, redis.Close())
	}
	key, err := books.drawKey(ctx, "bus_key")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the key of the bus: %w", err), books.Close(), redis.Close())
	}
	return &Engines{
		Books:      books,
		Pool:       redis.Pool(),
		Bus:        redis.Bus(key),
		Presence:   redis.Presence(),
		Limiter:    redis.Limiter(),
		Notes:      redis.Notes(),
		Local:      memstore.NewLimiter(memstore.LimiterOptions{}),
		Scans:      4, // of the connections of the pool, 16 by default
		Name:       "scaled: Postgres, " + redis.Name(),
		RedisReady: redis.Ready,
		Meters: func() meter.Engines {
			sql, m := books.sql.Meters(), redis.Meters()
			return meter.Engines{Work: append(sql.Work, m.Work...), Connections: append(sql.Connections, m.Connections...), Bus: m.Bus}
		},
		other: redis,
	}, nil
}

// drawKey returns the key of 32 random bytes that is stored under the name. All instances have the same.
func (b *Books) drawKey(ctx context.Context, name string) ([]byte, error) {
	return b.sql.DrawSetting(ctx, name, func() []byte {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		return key
	})
}

// FilesKey returns the key that signs links to files.
func (b *Books) FilesKey(ctx context.Context) ([]byte, error) {
	return b.drawKey(ctx, "files_key")
}

// ConsoleKey returns the key that encrypts the sessions of the console.
func (b *Books) ConsoleKey(ctx context.Context) ([]byte, error) {
	return b.drawKey(ctx, "console_key")
}

// makeKeyedBooks opens the engines in SQL with the data key.
func makeKeyedBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	books, err := MakeBooks(ctx, c, cmp.Or(c.Migrate, migrations.Auto), log)
	if err != nil {
		return nil, err
	}
	if err := books.UseDataKey(ctx, c, log); err != nil {
		return nil, errors.Join(err, books.Close())
	}
	return books, nil
}

// MakeBooks opens only the engines in SQL. mode says whether their schema is migrated: Auto and Split do. In embedded
// mode it creates the data folder and the database if they do not exist.
func MakeBooks(ctx context.Context, c Config, mode migrations.Mode, log *slog.Logger) (*Books, error) {
	if c.Scaled() {
		sql, err := pgstore.OpenWith(ctx, c.DatabaseURL, mode, log)
		if err != nil {
			return nil, err
		}
		sql.UseEvents(c.Events)
		return &Books{Chat: sql, Ledger: sql, Lineage: sql, Security: sql, Trail: sql, Charts: sql, Events: sql, Fundings: sql, Files: sql, sql: sql}, nil
	}
	sql, err := sqlitestore.OpenWith(ctx, c.DataDir, mode, log)
	if err != nil {
		return nil, c.nameFolder(err)
	}
	sql.UseEvents(c.Events)
	return &Books{Chat: sql, Ledger: sql, Lineage: sql, Security: sql, Trail: sql, Charts: sql, Events: sql, Fundings: sql, Files: sql, sql: sql}, nil
}

// OpenBooks opens only the engines in SQL, even while a server runs. It does not migrate: a schema that is not that of this
// version is an error of package migrations. If the folder has no database, it fails with ErrNoBooks.
func OpenBooks(ctx context.Context, c Config, log *slog.Logger) (*Books, error) {
	if !c.Scaled() {
		if err := c.findFile(); err != nil {
			return nil, err
		}
	}
	return MakeBooks(ctx, c, migrations.Verify, log)
}

// Auditor checks the books of a database and writes nothing.
type Auditor interface {
	Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error)
	io.Closer
}

// OpenAuditor opens the database for an audit, even while a server runs. It does not migrate: a schema that is not that of
// this version is an error of package migrations. In scaled mode the database role needs only the right to select, and the
// Postgres server may be a standby. If the folder has no database, it fails with ErrNoBooks.
func OpenAuditor(ctx context.Context, c Config, log *slog.Logger) (Auditor, error) {
	if c.Scaled() {
		return pgstore.OpenAuditor(ctx, c.DatabaseURL, log)
	}
	return c.openFile(ctx)
}

// File is the path of the embedded database.
func (c Config) File() string { return filepath.Join(c.DataDir, sqlitestore.FileName) }

// nameFolder adds the path of the data folder to an error of package migrations. If a migration cannot help, it also says
// how to use another folder. All other errors stay as they are.
func (c Config) nameFolder(err error) error {
	switch {
	case errors.Is(err, migrations.ErrChanged), errors.Is(err, migrations.ErrNewer):
		return fmt.Errorf("data folder %s: %w; or begin anew: name another folder with HONGBAO_DATA_DIR", c.DataDir, err)
	case errors.Is(err, migrations.ErrOld):
		return fmt.Errorf("data folder %s: %w", c.DataDir, err)
	}
	return err
}

// findFile returns an error that wraps ErrNoBooks if the folder has no database.
func (c Config) findFile() error {
	_, err := os.Stat(c.File())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoBooks, c.DataDir)
	}
	return err
}

// Ready returns nil if the SQL database can be reached, and no data key that it needs is missing.
func (b *Books) Ready(ctx context.Context) error {
	if err := b.Ledger.OutOfReach(); err != nil {
		return err
	}
	if _, err := b.Chat.Epoch(ctx); err != nil {
		return err
	}
	return b.checkKeys(ctx)
}

// CheckSchema returns an error of package migrations if the schema is not exactly that of this version.
func (b *Books) CheckSchema(ctx context.Context) error { return b.sql.CheckSchema(ctx) }

// Close answers the queued calls and closes the engines in SQL.
func (b *Books) Close() error { return b.sql.Close() }

// Close closes all engines, those in SQL first, and releases the data folder.
func (e *Engines) Close() error { return errors.Join(e.Books.Close(), e.other.Close()) }
