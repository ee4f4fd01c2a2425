package sqlitestore

import (
	"testing"
	"time"

	"hongbao/redpacket"
)

// TestOnLoss deletes the newest link of the chain. The next transaction must tell so, and the one after it must succeed with a
// new chain.
func TestOnLoss(t *testing.T) {
	s := openStore(t, t.TempDir())
	var told []string
	s.OnLoss(func(reason string) { told = append(told, reason) })
	credit := func(key string) error {
		_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: key, User: "ann", Amount: 5, Key: key, Hash: []byte(key), At: time.UnixMilli(1)})
		return err
	}
	noError(t, credit("one"))
	alter(t, s, `delete from links where id = (select max(id) from links)`)
	if err := credit("two"); err == nil || len(told) != 1 {
		t.Errorf("credit after the loss: %v, told %q; want an error, and to be told once", err, told)
	}
	if err := credit("three"); err != nil || len(told) != 1 {
		t.Errorf("credit in a new chain: %v, told %q", err, told)
	}
}
