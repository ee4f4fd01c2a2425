package api

import (
	"testing"
	"testing/synctest"
	"time"

	"hongbao/store/memstore"
	"hongbao/web/wire"
)

// TestBudgetsOfAddresses spends the budget of one address. Handshakes and frames from it must be refused, and so must commands of its
// guests. Users of the host and other addresses must not.
func TestBudgetsOfAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRates(nil)
		guest := Caller{User: userNamed("guest:1").User, Address: "192.0.2.1"}
		if n, wait := granted(t, func() error { return r.SpendHandshake(t.Context(), guest.Address) }); n != 1000 || wait != 0 {
			t.Fatalf("%d handshakes, then wait %v, want 1000", n, wait)
		}
		for name, spend := range map[string]func() error{
			"handshake": func() error { return r.SpendHandshake(t.Context(), guest.Address) },
			"frame":     func() error { return r.SpendFrame(t.Context(), guest.Address) },
			"connect":   func() error { return r.SpendConnect(t.Context(), guest) },
			"history":   func() error { return r.spend(t.Context(), guest, "history") },
		} {
			if n, wait := granted(t, spend); n != 0 || wait <= 0 || wait > 10*time.Millisecond {
				t.Errorf("%s: passed %d times, then wait %v, want none and at most 10ms", name, n, wait)
			}
		}
		if err := r.spend(t.Context(), userNamed("ann"), "history"); err != nil {
			t.Errorf("a user of the host was refused: %v", err)
		}
		if err := r.SpendFrame(t.Context(), "192.0.2.2"); err != nil {
			t.Errorf("another address was refused: %v", err)
		}
	})
}

// TestBudgetOfAUserIsShared spends a user's budget with several commands. They must share it. What has a rate of its own must
// not be refused.
func TestBudgetOfAUserIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRates(nil)
		if n, _ := granted(t, func() error { return r.spend(t.Context(), userNamed("ann"), "find_rooms") }); n != 50 {
			t.Errorf("find_rooms: %d times, want 50", n)
		}
		if n, wait := granted(t, func() error { return r.spend(t.Context(), userNamed("ann"), "history") }); n != 0 || wait != 50*time.Millisecond {
			t.Errorf("history after the budget: %d times, wait %v, want none and 50ms", n, wait)
		}
		if n, _ := granted(t, func() error { return r.SpendConnect(t.Context(), userNamed("ann")) }); n != 50 {
			t.Errorf("connect: %d times, want 50", n)
		}
		if err := r.spend(t.Context(), userNamed("ann"), "send"); err != nil {
			t.Errorf("send has a rate of its own, and was refused: %v", err)
		}
	})
}

// TestSharesCostBudget sends packets of very many shares. The user's budget must bound them, before the service does any work.
func TestSharesCostBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Config{Rates: NewRates(memstore.NewLimiter(memstore.LimiterOptions{}), nil, time.Now, nil)})
		if err := a.rates.spendBudget(t.Context(), userNamed("ann"), 10_000/sharesPerCost); err != nil {
			t.Fatal(err)
		}
		n, wait := granted(t, func() error {
			_, err := a.sendPacket(t.Context(), userNamed("ann"), &wire.SendPacketRequest{Count: new(10_000)})
			return err
		})
		if n != 0 || wait != 3*time.Second {
			t.Errorf("%d packets of 10,000 shares after one, then wait %v, want none and 3s", n, wait)
		}
	})
}
