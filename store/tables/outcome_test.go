package tables_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

func TestOutcome(t *testing.T) {
	if err := tables.Outcome("do", nil); err != nil {
		t.Errorf("nothing wrong becomes %v", err)
	}
	for _, err := range []error{
		chat.ErrKeyReused, redpacket.ErrInsufficientBalance, fmt.Errorf("with more: %w", chat.ErrNotFound),
		chat.BadField("next", "is wrong"), &redpacket.CommitmentError{Err: chat.ErrConflict, Next: "x"},
		tables.Unavailable("do", errors.New("disk")),
	} {
		if got := tables.Outcome("do", err); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	for _, err := range []error{sql.ErrConnDone, sql.ErrNoRows, context.Canceled, errors.New("else")} {
		if got := tables.Outcome("do", err); !errors.Is(got, chat.ErrUnavailable) || !errors.Is(got, err) {
			t.Errorf("%v becomes %v, want unavailable that tells the cause", err, got)
		}
	}
}
