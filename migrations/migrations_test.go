package migrations

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestEnginesHaveTheSameMigrations checks that both engines have files of the same names, numbered without gaps.
func TestEnginesHaveTheSameMigrations(t *testing.T) {
	sqlite, postgres := SQLite(), Postgres()
	if len(sqlite) == 0 || len(sqlite) != len(postgres) {
		t.Fatalf("%d migrations of SQLite, %d of Postgres", len(sqlite), len(postgres))
	}
	for i := range sqlite {
		name, other := strings.TrimPrefix(sqlite[i].Name, "sqlite/"), strings.TrimPrefix(postgres[i].Name, "postgres/")
		if number, _, _ := strings.Cut(name, "_"); name != other || number != fmt.Sprintf("%04d", i+1) {
			t.Errorf("file %d is %s of SQLite and %s of Postgres, want the same name with number %04d", i+1, name, other, i+1)
		}
	}
}

// TestCheck compares databases with these migrations.
func TestCheck(t *testing.T) {
	all := append(SQLite(), Migration{"sqlite/9998_next.sql", "select 1", "1"})
	same := map[string]string{}
	for _, m := range all {
		same[m.Name] = m.Sum
	}
	with := func(name, sum string) map[string]string {
		m := maps.Clone(same)
		m[name] = sum
		return m
	}
	without := maps.Clone(same)
	delete(without, all[1].Name)
	for name, c := range map[string]struct {
		applied map[string]string
		want    error
		missing int
	}{
		"empty":                     {nil, ErrOld, len(all)},
		"the same":                  {same, nil, 0},
		"one is missing":            {without, ErrOld, 1},
		"one more":                  {with("sqlite/9999_later.sql", ""), ErrNewer, 0},
		"one with another content":  {with(all[0].Name, "00"), ErrChanged, 0},
		"one more, and one missing": {map[string]string{"sqlite/9999_later.sql": ""}, ErrNewer, 0},
	} {
		if err := Check(all, c.applied); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		missing, err := Missing(all, c.applied)
		if errors.Is(c.want, ErrOld) {
			c.want = nil
		}
		if !errors.Is(err, c.want) || len(missing) != c.missing {
			t.Errorf("%s: missing %v, %v, want %d, %v", name, missing, err, c.missing, c.want)
		}
	}
}
