package sqlitestore

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/eventlog"
	"hongbao/store/storetest"
)

func TestEvents(t *testing.T) {
	storetest.TestEvents(t, func(t *testing.T) storetest.EventsUnderTest {
		_, s := openMeasured(t)
		return eventsOf(t, s)
	})
}

func eventsOf(t *testing.T, s *Store) storetest.EventsUnderTest {
	exec := func(statement string) error { return execute(t, s, strings.ReplaceAll(statement, "bytea", "blob")) }
	return storetest.EventsUnderTest{Store: s, Consumers: s, Absences: s, Ledger: s, Rooms: s, Exec: exec, NewEpoch: func() {
		noError(t, exec(`update settings set value = cast('another epoch' as blob) where name = 'epoch'`))
	}}
}

// TestLeaseEndsByTheClockOfTheProcess runs in a bubble, whose clock advances while that of the machine does not. A lease must end by the bubble's: otherwise
// a machine that stalls for the time of a lease changes the verdict of tests about takeovers.
func TestLeaseEndsByTheClockOfTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, migratedFolder(t))
		lease := func(owner string) error {
			_, err := s.Lease(t.Context(), "webhook", owner, time.Minute, time.Now())
			return err
		}
		noError(t, lease("a"))
		time.Sleep(59 * time.Second)
		if err := lease("b"); !eventlog.Lost(err) {
			t.Errorf("a lease while another instance has it: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := lease("b"); err != nil {
			t.Errorf("a lease that has ended is not given: %v", err)
		}
	})
}
