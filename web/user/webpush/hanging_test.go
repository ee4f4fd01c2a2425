package webpush

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/web/webtest"
)

// answering sends requests to hosts that begin with "hang", which never answer, and to others, which answer at once.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Host, "hang") {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody, Request: r}, nil
}

// newHangingSender returns a sender whose hosts answer as answering says.
func newHangingSender(t *testing.T) (s *sender, to func(user, host string) chat.Subscription) {
	t.Helper()
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	k := webtest.NewPushKeys(t)
	s = newSender(Options{Keys: keys, Contact: "mailto:ops@example.com", Timeout: requestTimeout, Log: slog.New(slog.DiscardHandler), HTTP: &http.Client{Transport: answering{}}})
	return s, func(user, host string) chat.Subscription {
		sub := subscriptionAt(k, "https://"+host+"/x")
		sub.User = user
		return sub
	}
}

// TestHangingHostsLeavePlacesForKnownOnes subscribes very many users to hosts that never answer. A host that has answered before, and the
// push service of a browser's maker, must be served at once all the same.
func TestHangingHostsLeavePlacesForKnownOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, to := newHangingSender(t)
		s.send(t.Context(), to("ann", "known.example"), note{})
		synctest.Wait()
		for n := range mostHosts + 100 {
			s.send(t.Context(), to(fmt.Sprint("user-", n), fmt.Sprintf("hang-%d.example", n)), note{})
		}
		for range mostWaiting {
			s.send(t.Context(), to("user-1", "hang-1.example"), note{})
			s.send(t.Context(), to("user-2", "hang-2.example"), note{})
		}
		for n := range 60 {
			for range mostQueued {
				s.send(t.Context(), to(fmt.Sprint("user-", n), fmt.Sprintf("hang-%d.example", n)), note{})
			}
		}
		began := time.Now()
		s.send(t.Context(), to("ann", "known.example"), note{})
		s.send(t.Context(), to("bob", "fcm.googleapis.com"), note{})
		synctest.Wait()
		if got := s.stats(); got.Sent != 3 || !time.Now().Equal(began) {
			t.Errorf("%+v while many hosts hang, want 3 sent", got)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.freshHosts > mostHosts || s.freshWaiting > mostFreshWaiting {
			t.Errorf("%d unknown hosts with %d notifications, want at most %d with %d", s.freshHosts, s.freshWaiting, mostHosts, mostFreshWaiting)
		}
	})
}

// TestUnknownHostsCountPerUser subscribes one user to more hosts than may be unknown. Those over the bound must be dropped, until the others
// have answered.
func TestUnknownHostsCountPerUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, to := newHangingSender(t)
		for n := range mostHostsOfUser + 2 {
			s.send(t.Context(), to("ann", fmt.Sprintf("hang-%d.example", n)), note{})
		}
		s.send(t.Context(), to("bob", "hang-9.example"), note{})
		synctest.Wait()
		if got := s.stats(); got.Dropped != 2 {
			t.Errorf("%d notifications were dropped, want the 2 over the bound of their user", got.Dropped)
		}
		time.Sleep(2 * requestTimeout) // sleeps: in a bubble
		synctest.Wait()
		s.send(t.Context(), to("ann", "quick-1.example"), note{})
		synctest.Wait()
		if got := s.stats(); got.Sent != 1 || s.freshHosts != 0 || len(s.freshOf) != 0 || s.freshWaiting != 0 || s.waiting != 0 {
			t.Errorf("%+v, %d unknown hosts of %d users, %d and %d waiting at the end", got, s.freshHosts, len(s.freshOf), s.freshWaiting, s.waiting)
		}
	})
}

// TestKnownHostIsForgottenByAge remembers more hosts than fit. The one whose last answer is oldest must be forgotten.
func TestKnownHostIsForgottenByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newHangingSender(t)
		const busy = "busy.example:443"
		for n := range 3 * mostKnown {
			s.remember(busy)
			time.Sleep(time.Millisecond) // sleeps: in a bubble
			s.remember(fmt.Sprintf("quick-%d.example:443", n))
		}
		if _, known := s.known[busy]; !known || len(s.known) != mostKnown {
			t.Errorf("%d hosts are known, and the busy one %t, want %d with it", len(s.known), known, mostKnown)
		}
	})
}
