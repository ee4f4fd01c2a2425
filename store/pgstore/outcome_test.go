package pgstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
)

// TestErrorsAreClassifiedBySQLState raises errors of many SQLSTATEs. It checks which are retried, which lose the
// connection and which are blamed on a row.
func TestErrorsAreClassifiedBySQLState(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	for _, test := range []struct {
		code            string
		retryable, lost bool
		fault           batch.Fault
	}{
		{"40001", true, false, batch.Outage}, {"40P01", true, false, batch.Outage},
		{"57P01", false, true, batch.Outage}, {"25006", false, true, batch.Outage}, {"08006", false, true, batch.Outage},
		{"53100", false, false, batch.Outage},
		{"57014", false, false, batch.Exhausted}, {"53200", false, false, batch.Exhausted}, {"58030", false, false, batch.Exhausted},
		{"42501", false, false, batch.PassingRow}, {"P0001", false, false, batch.PassingRow},
		{"23505", false, false, batch.LastingRow}, {"22003", false, false, batch.LastingRow}, {"22021", false, false, batch.LastingRow},
		{"54000", false, false, batch.LastingRow},
	} {
		err := s.withReader(t.Context(), func(r reader) error {
			return r.SendBatch(batchOf(`do $$ begin raise exception 'x' using errcode = '` + test.code + `'; end $$`))
		})
		if err := s.pool.Await(t.Context()); err != nil { // waits until calls pass again: two lost connections have tripped the breaker
			t.Fatal(err)
		}
		if pg.SQLState(err) != test.code || retryable(err) != test.retryable || errors.Is(err, errLost) != test.lost || judge(err) != test.fault {
			t.Errorf("%s: %v: retryable %v, lost %v, fault %d; want %+v", test.code, err, retryable(err), errors.Is(err, errLost), judge(err), test)
		}
	}
	timeout := &pgconn.PgError{Code: "55P03", Routine: "ProcessInterrupts"}
	for err, want := range map[error]batch.Fault{
		timeout:      batch.RowsLocked,
		errContended: batch.RowsLocked,
		fmt.Errorf("%w: %w", errKeyTaken, timeout):                 batch.KeyTaken,
		&pgconn.PgError{Code: "55P03", Routine: "exec_stmt_raise"}: batch.PassingRow, // a function of the database has raised it
	} {
		if got := judge(err); got != want {
			t.Errorf("%v is judged %d, want %d", err, got, want)
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
