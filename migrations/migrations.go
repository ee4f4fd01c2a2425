// Package migrations holds the SQL schemas of both engines as numbered files, and decides whether a database fits this version
// of the program. The first file is the whole schema until the first release. grants.sql has the rights of those that use the
// schema of Postgres.
//
// Each file is applied once, in order. After its release no byte of it changes, not even in a comment, because databases store
// its hash. Both engines have files of the same names, and each pair means the same. Instances of the old version run while a
// migration is applied and after it. So a migration removes nothing that the old version uses. Each file of Postgres is one
// transaction.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// These errors mean that a database does not fit this version of the program. Their texts say what to do.
var (
	ErrOld     = errors.New("the database has the schema of an older version: run hongbao migrate")
	ErrNewer   = errors.New("a newer version of hongbao has migrated this database: start that version, or restore a backup from before")
	ErrChanged = errors.New("the schema is not that of a released version: a migration was applied with another content; start the version that applied it, or restore a backup from before")
)

// Migration is one file.
type Migration struct {
	Name string // engine and file, such as postgres/0001_init.sql; stored in the database
	Text string
	Sum  string // SHA-256 of Text, as hex digits
}

// Postgres returns the migrations of Postgres, in order.
func Postgres() []Migration { return list("postgres") }

// SQLite returns the migrations of SQLite, in order.
func SQLite() []Migration { return list("sqlite") }

func list(engine string) (all []Migration) {
	names, err := fs.Glob(files, engine+"/*.sql") // sorted
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		sum := sha256.Sum256(text)
		all = append(all, Migration{name, string(text), hex.EncodeToString(sum[:])})
	}
	return all
}

// Missing returns those migrations that were not applied to a database. applied has the Sum of each applied migration, by name.
// Missing fails with ErrNewer or ErrChanged.
func Missing(all []Migration, applied map[string]string) (missing []Migration, err error) {
	known := 0
	for _, m := range all {
		sum, ok := applied[m.Name]
		switch {
		case !ok:
			missing = append(missing, m)
			continue
		case sum != m.Sum:
			return nil, fmt.Errorf("%w (%s)", ErrChanged, m.Name)
		}
		known++
	}
	if known < len(applied) {
		return nil, fmt.Errorf("%w (%s is not of this version)", ErrNewer, newest(all, applied))
	}
	return missing, nil
}

// newest returns the last of the applied migrations that this version does not have.
func newest(all []Migration, applied map[string]string) (name string) {
	known := map[string]bool{}
	for _, m := range all {
		known[m.Name] = true
	}
	for n := range applied {
		if !known[n] {
			name = max(name, n)
		}
	}
	return name
}

// Check returns nil if exactly these migrations were applied to a database. Otherwise it fails with ErrOld, ErrNewer or
// ErrChanged.
func Check(all []Migration, applied map[string]string) error {
	missing, err := Missing(all, applied)
	if err == nil && len(missing) > 0 {
		return fmt.Errorf("%w (%s is missing)", ErrOld, missing[0].Name)
	}
	return err
}

// Mode says what a program does with the schema when it opens a database.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"  // apply what is missing
	Verify Mode = "check" // change nothing, and refuse a schema that is not exactly that of this version
	Off    Mode = "off"   // change nothing, and do not look
	Split  Mode = "split" // as Auto, and split the filled tables of a Citus cluster; no setting, only for hongbao migrate
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mode) UnmarshalText(text []byte) error {
	switch mode := Mode(text); mode {
	case Auto, Verify, Off:
		*m = mode
		return nil
	}
	return fmt.Errorf("%q is none of auto, check, off", text)
}
