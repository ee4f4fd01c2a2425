package redpacket_test

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// versionedLedger is a Ledger that returns accounts with the version that the test sets.
type versionedLedger struct {
	emptyLedger
	version int64
}

func (l *versionedLedger) Adjust(context.Context, redpacket.Adjustment) (redpacket.Account, bool, error) {
	return redpacket.Account{Balance: redpacket.Money(100 * l.version), Version: l.version}, false, nil
}

// pushedVersions is a Publisher that records the versions of the accounts that are pushed.
type pushedVersions struct {
	chat.Publisher
	versions []int64
}

func (p *pushedVersions) ToUser(_ string, e chat.Event) {
	p.versions = append(p.versions, e.(redpacket.WalletChanged).Account.Version)
}

// TestOlderWalletPushAfterTenSeconds publishes an account of a lower version than that of the last push. Within 10 s
// two changes may have crossed, so the newer account must be pushed again. After 10 s the database must have lost the
// newer account, so the older one must be pushed.
func TestOlderWalletPushAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger, pushed := &versionedLedger{}, &pushedVersions{}
		s := redpacket.New(ledger, nil, nil, pushed, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
		calls := 0
		for _, step := range []struct {
			pause         time.Duration
			version, want int64
		}{
			{0, 5, 5}, {time.Second, 4, 5}, {8 * time.Second, 3, 5}, // within 10 s of version 5
			{time.Second, 3, 3}, {time.Second, 2, 3}, {time.Second, 6, 6}, {10 * time.Second, 1, 1},
		} {
			time.Sleep(step.pause)
			ledger.version = step.version
			calls++
			if _, _, err := s.Adjust(t.Context(), redpacket.AdjustRequest{User: "ann", Amount: 1, Key: "key-" + strconv.Itoa(calls)}); err != nil {
				t.Fatal(err)
			}
			if got := pushed.versions[len(pushed.versions)-1]; got != step.want {
				t.Errorf("call %d with version %d pushed version %d, want %d", calls, step.version, got, step.want)
			}
		}
	})
}

// TestOlderWalletPushAfterForget publishes an account of a lower version right after Forget: the database has lost the newer one, so the older must be pushed.
func TestOlderWalletPushAfterForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger, pushed := &versionedLedger{version: 5}, &pushedVersions{}
		s := redpacket.New(ledger, nil, nil, pushed, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
		for i, version := range []int64{5, 3} {
			ledger.version = version
			if _, _, err := s.Adjust(t.Context(), redpacket.AdjustRequest{User: "ann", Amount: 1, Key: "key-" + strconv.Itoa(i)}); err != nil {
				t.Fatal(err)
			}
			s.Forget()
		}
		if got := pushed.versions[1]; got != 3 {
			t.Errorf("pushed version %d after Forget, want 3", got)
		}
		time.Sleep(time.Minute) // Forget forgets once more
	})
}
