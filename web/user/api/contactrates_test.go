package api

import (
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
)

// TestContactRates calls direct as guests of one address and of another, on two instances. The user's rate, then the
// address's, then that of all guests must refuse. Users of the host have a rate of their own. A faulty request costs nothing.
func TestContactRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memstore.NewLimiter(memstore.LimiterOptions{})
		instances := []*Rates{testRates(shared), testRates(shared)}
		rate, calls, valid := ContactRate{PerUser: 6, PerAddress: 10, InAll: 15}, 0, false
		spend := func(user, address string) func() error {
			return func() error {
				calls++
				return instances[calls%2].spendContact(t.Context(), Caller{User: chat.User{ID: user}, Address: address}, "direct", rate, valid)
			}
		}
		if n, _ := granted(t, spend("guest:1", "10.0.0.1")); n != 1000 {
			t.Errorf("faulty requests: %d times", n)
		}
		valid = true
		for _, test := range []struct {
			user, address string
			want          int
		}{
			{"guest:1", "10.0.0.1", 6}, {"guest:2", "10.0.0.1", 4}, {"guest:3", "10.0.0.2", 5}, {"guest:4", "10.0.0.3", 0},
			{"host", "", 6}, {"host2", "", 6}, {"host3", "", 3}, {"host4", "", 0},
		} {
			if n, _ := granted(t, spend(test.user, test.address)); n != test.want {
				t.Errorf("%s of %q: %d times, want %d", test.user, test.address, n, test.want)
			}
		}
		time.Sleep(time.Minute)
		if n, wait := granted(t, spend("host", "")); n != 6 || wait != 10*time.Second {
			t.Errorf("a user of the host: %d times, then wait %v", n, wait)
		}
		rate = ContactRate{}
		if n, _ := granted(t, spend("host", "")); n != 1000 {
			t.Errorf("without rates: %d times", n)
		}
	})
}
