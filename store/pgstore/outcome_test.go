package pgstore

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestErrorsAreClassifiedBySQLState raises errors of many SQLSTATEs. It checks which are retried, which lose the
// connection and which are blamed on a row.
func TestErrorsAreClassifiedBySQLState(t *testing.T) {
	s := openStore(t, migratedDatabase(t))
	for _, test := range []struct {
		code                       string
		retryable, lost, poisonous bool
	}{
		{"40001", true, false, false}, {"40P01", true, false, false},
		{"57P01", false, true, false}, {"25006", false, true, false}, {"08006", false, true, false},
		{"53100", false, false, false}, {"57014", false, false, true}, {"53200", false, false, true}, {"58030", false, false, true},
		{"23505", false, false, true}, {"22003", false, false, true}, {"22021", false, false, true}, {"54000", false, false, true},
	} {
		err := s.withReader(t.Context(), func(r reader) error {
			return r.sendBatch(batchOf(`do $$ begin raise exception 'x' using errcode = '` + test.code + `'; end $$`))
		})
		if err := s.pool.breaker.await(t.Context()); err != nil { // waits until calls pass again: two lost connections have tripped the breaker
			t.Fatal(err)
		}
		if sqlState(err) != test.code || retryable(err) != test.retryable || errors.Is(err, errLost) != test.lost || poisonous(err) != test.poisonous {
			t.Errorf("%s: %v: overtaken %v, lost %v, poisonous %v", test.code, err, retryable(err), errors.Is(err, errLost), poisonous(err))
		}
	}
}

func batchOf(statements ...string) *pgx.Batch {
	b := &pgx.Batch{}
	for _, s := range statements {
		b.Queue(s)
	}
	return b
}
