package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store"
)

// skewedPool is a Pool whose clock the test sets.
type skewedPool struct {
	redpacket.Pool
	ahead time.Duration
}

func (p *skewedPool) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return []redpacket.ClockDifference{{Clock: "Redis at r:1", Ahead: p.ahead}}, nil
}

// TestClocksThatDiffer wires an instance while the clocks are too far apart: wireUp must fail. If they drift apart
// later, /readyz and /metrics must report it.
func TestClocksThatDiffer(t *testing.T) {
	dir := t.TempDir()
	engines, err := store.Open(t.Context(), store.Config{DataDir: dir}, slog.New(slog.DiscardHandler))
	noError(t, err)
	t.Cleanup(func() { noError(t, engines.Close()) })
	pool := &skewedPool{Pool: engines.Pool, ahead: -6 * time.Second}
	engines.Pool = pool
	c := config{DataDir: dir, Guests: guestsLocal, ReadyNeeds: needs{needDatabase, needClocks}, MaxPacketTotal: 1000, MaxPacketCount: 10, Currency: currency{Code: "CNY", Exponent: 2}}
	_, err = wireUp(t.Context(), c, "node", engines, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "the clock of this instance is 6s ahead of the clock of Redis at r:1") || !strings.Contains(err.Error(), "NTP, then start again") {
		t.Errorf("wireUp with clocks 6s apart: %v, want an error that names both clocks and says what to do", err)
	}

	pool.ahead = 0
	made, err := wireUp(t.Context(), c, "node", engines, slog.New(slog.DiscardHandler))
	noError(t, err)
	page := func(path string) (status int, text string) {
		w := httptest.NewRecorder()
		made.server.OpsHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		return w.Code, w.Body.String()
	}
	if status, text := page("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz with equal clocks: %d %s, want 200", status, text)
	}
	pool.ahead = 8 * time.Second
	if err := made.packets.CheckClocks(t.Context()); err == nil {
		t.Error("CheckClocks with clocks 8s apart succeeds, want an error")
	}
	if status, text := page("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "Redis at r:1 is 8s ahead") {
		t.Errorf("/readyz with clocks 8s apart: %d %s, want 503 and the difference", status, text)
	}
	if _, text := page("/metrics"); !strings.Contains(text, `hongbao_clock_difference_seconds{clock="Redis at r:1"} 8`) {
		t.Errorf("/metrics lacks the clock's difference of 8 s:\n%s", text)
	}
}

// TestPageLeadsToTheLobby wires instances with and without a lobby. The page must be told of the room, and the same after a restart.
func TestPageLeadsToTheLobby(t *testing.T) {
	dir := t.TempDir()
	facts := func(on onOff) string {
		engines, err := store.Open(t.Context(), store.Config{DataDir: dir}, slog.New(slog.DiscardHandler))
		noError(t, err)
		defer func() { noError(t, engines.Close()) }()
		c := config{
			DataDir: dir, Guests: guestsLocal, GuestCredit: credit{amount: 1000}, Lobby: on, MaxPacketTotal: 1000, MaxPacketCount: 10,
			Currency: currency{Code: "CNY", Exponent: 2},
		}
		made, err := wireUp(t.Context(), c, "node", engines, slog.New(slog.DiscardHandler))
		noError(t, err)
		w := httptest.NewRecorder()
		made.server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/page.json", nil))
		return w.Body.String()
	}
	first := facts("on")
	if !strings.Contains(first, `"play_money":true,"lobby":{"room":"`) || facts("on") != first {
		t.Errorf("page.json says %s, and another text after a restart; want the same lobby", first)
	}
	if off := facts(""); strings.Contains(off, "lobby") {
		t.Errorf("without a lobby page.json says %s", off)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
