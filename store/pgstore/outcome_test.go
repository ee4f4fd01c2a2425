package pgstore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestOutcome(t *testing.T) {
	if err := outcome("do", nil); err != nil {
		t.Errorf("nothing wrong becomes %v", err)
	}
	for _, err := range []error{
		chat.ErrKeyReused, redpacket.ErrInsufficientBalance, fmt.Errorf("with more: %w", chat.ErrNotFound),
		chat.BadField("next", "is wrong"), &redpacket.CommitmentError{Err: chat.ErrConflict, Next: "x"},
		unavailable("do", errors.New("disk")),
	} {
		if got := outcome("do", err); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	s := openStore(t, storetest.Database(t))
	engine := s.look(t.Context(), func(r reader) error { return r.batch(batchOf(`no SQL`)) })
	for _, err := range []error{engine, errLost, pgx.ErrNoRows, context.Canceled, errors.New("else")} {
		if got := outcome("do", err); !errors.Is(got, chat.ErrUnavailable) || !errors.Is(got, err) {
			t.Errorf("%v becomes %v, want unavailable that tells the cause", err, got)
		}
	}
}

// TestErrorsAreToldByTheirCode: which of them blame a row, which the moment, and which the connection.
func TestErrorsAreToldByTheirCode(t *testing.T) {
	s := openStore(t, storetest.Database(t))
	for _, test := range []struct {
		code                       string
		overtaken, lost, poisonous bool
	}{
		{"40001", true, false, false}, {"40P01", true, false, false},
		{"57P01", false, true, false}, {"25006", false, true, false}, {"08006", false, true, false},
		{"53100", false, false, false}, {"57014", false, false, false},
		{"23505", false, false, true}, {"22003", false, false, true}, {"22021", false, false, true}, {"54000", false, false, true},
	} {
		err := s.look(t.Context(), func(r reader) error {
			return r.batch(batchOf(`do $$ begin raise exception 'x' using errcode = '` + test.code + `'; end $$`))
		})
		if err := s.pool.breaker.await(t.Context()); err != nil { // a connection lost twice trips it
			t.Fatal(err)
		}
		if code(err) != test.code || overtaken(err) != test.overtaken || errors.Is(err, errLost) != test.lost || poisonous(err) != test.poisonous {
			t.Errorf("%s: %v: overtaken %v, lost %v, poisonous %v", test.code, err, overtaken(err), errors.Is(err, errLost), poisonous(err))
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
