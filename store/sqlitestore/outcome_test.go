package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
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
	_, engine := openStore(t, t.TempDir()).read.Exec("no SQL")
	for _, err := range []error{engine, sql.ErrConnDone, sql.ErrNoRows, context.Canceled, errors.New("else")} {
		if got := outcome("do", err); !errors.Is(got, chat.ErrUnavailable) || !errors.Is(got, err) {
			t.Errorf("%v becomes %v, want unavailable that tells the cause", err, got)
		}
	}
}
