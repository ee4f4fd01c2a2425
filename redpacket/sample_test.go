package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
)

// TestInstancesTakeTurnsToSample runs two services over the same engines: only one of them may sample every 15 seconds.
func TestInstancesTakeTurnsToSample(t *testing.T) {
	s := newTestService(t, "ann", "bob")
	s.credit(t, "ann", 1000)
	limiter := memstore.NewLimiter(memstore.LimiterOptions{Now: s.clock.now})
	open := func() *redpacket.Service {
		return redpacket.New(s.store, s.pool, s.rooms, s.published, redpacket.Options{Now: s.clock.now, Log: slog.New(slog.DiscardHandler), Limiter: limiter})
	}
	one, two := open(), open()
	take := func(service *redpacket.Service) *redpacket.Sample {
		t.Helper()
		if err := service.TakeSample(t.Context()); err != nil {
			t.Fatal(err)
		}
		return service.LastSample()
	}
	s.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 2})
	if got := take(one); got == nil || got.Open != 1 || got.Escrow != 100 || got.Overdue != 0 {
		t.Errorf("the first instance has the sample %+v, want one open packet with 100", got)
	}
	s.clock.advance(10 * time.Second)
	if got := take(two); got != nil {
		t.Errorf("after 10 s the second instance samples, too: %+v", got)
	}
	s.clock.advance(5 * time.Second)
	if got := take(two); got == nil || got.Open != 1 {
		t.Errorf("after 15 s the second instance has the sample %+v, want its own", got)
	}
	s.clock.advance(50 * time.Second)
	if got := one.LastSample(); got != nil {
		t.Errorf("after 65 s the first instance still shows %+v, want nothing", got)
	}
}

// failingOutbox is a Pool whose outbox cannot be counted.
type failingOutbox struct{ redpacket.Pool }

func (failingOutbox) Outbox(context.Context) (int, time.Time, error) {
	return 0, time.Time{}, chat.ErrUnavailable
}

// TestSampleWithoutRedis takes samples while neither turns nor the outbox can be read: the books are shown nevertheless.
func TestSampleWithoutRedis(t *testing.T) {
	s := newTestService(t, "ann", "bob")
	s.credit(t, "ann", 1000)
	s.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 2})
	service := redpacket.New(s.store, failingOutbox{s.pool}, s.rooms, s.published, redpacket.Options{Now: s.clock.now, Log: slog.New(slog.DiscardHandler), Limiter: brokenLimiter{}})
	if err := service.TakeSample(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("sample without an outbox: %v, want unavailable", err)
	}
	if got := service.LastSample(); got == nil || got.Open != 1 || got.Outbox != -1 {
		t.Errorf("sample %+v, want one open packet, and an unknown outbox (-1)", got)
	}
}

// TestTimeUntilWinnersAreToldIsMeasured grabs until the packet is empty: only grabs that won are measured.
func TestTimeUntilWinnersAreToldIsMeasured(t *testing.T) {
	s := newTestService(t, "ann", "bob", "cat")
	s.credit(t, "ann", 1000)
	p := s.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 1})
	for _, user := range []string{"bob", "cat", "bob"} {
		s.grab(t, user, p)
	}
	if told := s.packets.Stats().AnswerTime; told.Count != 1 || told.Sum <= 0 {
		t.Errorf("measured %+v, want one grab", told)
	}
}
