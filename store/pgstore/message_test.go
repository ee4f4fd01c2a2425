package pgstore

import (
	"bytes"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// TestMessageCarriesAnyText sends texts with special characters to prepared and unprepared statements, and to those of a writer. They
// arrive unchanged, and a text that Postgres cannot store is refused.
func TestMessageCarriesAnyText(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	carriesAnyText(t, s, []string{"", "'", `"`, `\`, `\\'`, "a,b", "{}", "NULL", "$1", "$", "é\n\t;--/*", strings.Repeat("x'\"", 5000)})
	for _, bad := range []string{"a\x00b", "\xff"} {
		err := s.withReader(t.Context(), func(r reader) error {
			var m pg.Message
			m.Run(nil, "", echo, []string{bad}, []int64{}, [][]byte{})
			return m.Send(r)
		})
		if pg.SQLState(err) != "22021" || !poisonous(err) {
			t.Errorf("%q in a message: %v", bad, err)
		}
		err = s.tx(t.Context(), func(w *writer) error {
			_, err := w.Exec(`select $1::text`, bad)
			return err
		})
		if pg.SQLState(err) != "22021" || !poisonous(err) {
			t.Errorf("%q in a statement: %v", bad, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	s := openStore(f, migratedDatabase(f))
	for _, text := range []string{"", "'", `\`, `"\'`, "$9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			carriesAnyText(t, s, []string{text, "", text + text})
		}
	})
}

const echo = `select i.s, i.n, i.b from unnest($1::text[], $2::bigint[], $3::bytea[]) with ordinality i (s, n, b, place) order by place`

func carriesAnyText(t *testing.T, s *Store, texts []string) {
	t.Helper()
	numbers := make([]int64, len(texts))
	blobs := make([][]byte, len(texts))
	for i, text := range texts {
		numbers[i], blobs[i] = math.MinInt64+int64(i), []byte(text)
	}
	for _, prepared := range []bool{false, true} {
		var gotTexts []string
		var gotNumbers []int64
		var gotBlobs [][]byte
		must(t, s.withReader(t.Context(), func(r reader) error {
			name := ""
			if prepared {
				names, err := r.PrepareAll(echo)
				if err != nil {
					return err
				}
				name = names[0]
			}
			var m pg.Message
			m.Add("begin")
			m.Run(func(rs pgx.Rows) error {
				defer rs.Close()
				for rs.Next() {
					var text string
					var number int64
					var blob []byte
					if err := rs.Scan(&text, &number, &blob); err != nil {
						return err
					}
					gotTexts, gotNumbers, gotBlobs = append(gotTexts, text), append(gotNumbers, number), append(gotBlobs, blob)
				}
				return rs.Err()
			}, name, echo, texts, numbers, blobs)
			m.Add("commit")
			return m.Send(r)
		}))
		if !slices.Equal(gotTexts, texts) || !slices.Equal(gotNumbers, numbers) || !slices.EqualFunc(gotBlobs, blobs, bytes.Equal) {
			t.Errorf("prepared %v: read back %q, %v, %q", prepared, gotTexts, gotNumbers, gotBlobs)
		}
	}
	must(t, s.tx(t.Context(), func(w *writer) error {
		var b pgx.Batch
		for i, text := range texts {
			same := func(row pgx.Row) error {
				var got string
				var blob []byte
				var none *string
				err := row.Scan(&got, &blob, &none)
				if got != text || !bytes.Equal(blob, blobs[i]) || none != nil {
					t.Errorf("a writer read back %q, %q and %v for %q", got, blob, none, text)
				}
				return err
			}
			const statement = `select $1::text, $2::bytea, $3::text`
			b.Queue(statement, text, blobs[i], nil).QueryRow(same)
			rs, err := w.Query(statement, text, blobs[i], nil)
			if err != nil {
				return err
			}
			if err := pg.Each(rs, func(row tables.Row) error { return same(row) }); err != nil {
				return err
			}
		}
		return w.SendBatch(&b)
	}))
}

// TestStringsOfTheDatabaseDoNotMatter gives the database another standard_conforming_strings and client_encoding. A store must write texts
// all the same, directly and through PgBouncer, and also after other clients of PgBouncer have changed the settings.
func TestStringsOfTheDatabaseDoNotMatter(t *testing.T) {
	t.Parallel()
	direct := migratedDatabase(t)
	u, err := url.Parse(direct)
	must(t, err)
	set := connect(t, direct)
	for _, setting := range []string{"standard_conforming_strings = off", "client_encoding = LATIN1"} {
		must(t, pg.Simple(t.Context(), set, `do $$ begin execute 'alter database ' || quote_ident(current_database()) || ' set `+setting+`'; end $$`))
	}
	pooled := bouncer(t)(strings.TrimPrefix(u.Path, "/"))
	other := connect(t, pooled)
	for _, at := range []string{direct, pooled} {
		s := openStore(t, at)
		for range 3 {
			carriesAnyText(t, s, []string{`a\' || "\\b\n" `, "恭喜", `\`})
			must(t, pg.Simple(t.Context(), other, `set standard_conforming_strings = off`))
			must(t, pg.Simple(t.Context(), other, `set client_encoding = LATIN1`))
		}
	}
}
