package loopback

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"hongbao/store/enginetest"
)

// TestClocksOfServers shifts the clock of a Redis, a Postgres and its standby, and kills all of them.
func TestClocksOfServers(t *testing.T) {
	enginetest.Nightly(t, "waits")
	enginetest.Need(t, "Redis and Postgres")
	clock, err := NewClock(t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	r, err := clock.StartRedis(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(r.Stop)
	p, err := clock.StartPostgres(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(p.Stop)
	standby := startStandbyT(t, p)
	for _, shift := range []time.Duration{0, 7 * time.Second, -6500 * time.Millisecond, 0} {
		noError(t, clock.Shift(shift))
		awaitShift(t, "Redis", shift, func() (time.Time, error) { return clientT(t, r.Addr()).Time(t.Context()).Result() })
		for _, server := range []*Postgres{p, standby} {
			awaitShift(t, "Postgres", shift, func() (at time.Time, err error) {
				err = server.queryRow(t.Context(), "select clock_timestamp()", &at)
				return at, err
			})
		}
	}
	for _, d := range []*daemon{r.daemon, p.daemon, standby.daemon} {
		pid := d.PID()
		d.Kill()
		if _, err := os.Stat("/dev/shm/faketime_shm_" + strconv.Itoa(pid)); !os.IsNotExist(err) {
			t.Errorf("%s leaves a file behind: %v", d.name, err)
		}
	}
}

// TestClockOfRedis starts a Redis whose clock is wrong already.
func TestClockOfRedis(t *testing.T) {
	enginetest.Need(t, "Redis")
	clock, err := NewClock(t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	const shift = 7 * time.Second
	noError(t, clock.Shift(shift))
	r, err := clock.StartRedis(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(r.Stop)
	awaitShift(t, "Redis", shift, func() (time.Time, error) { return clientT(t, r.Addr()).Time(t.Context()).Result() })
}

// awaitShift waits until the server's clock differs from that of the machine by shift.
func awaitShift(t *testing.T, name string, shift time.Duration, read func() (time.Time, error)) {
	t.Helper()
	var differs time.Duration
	err := waitUntil(within(t, patience), nil, func(context.Context) error {
		at, err := read()
		differs = time.Until(at)
		if err == nil && (differs-shift).Abs() > 500*time.Millisecond {
			err = errors.New("another time")
		}
		return err
	})
	if err != nil {
		t.Fatalf("the clock of %s differs by %v, want %v: %v", name, differs, shift, err)
	}
}
