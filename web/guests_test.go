package web

import (
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// signGuest returns a token of a guest that was issued at the given time.
func signGuest(t *testing.T, guest wire.User, issued time.Time) string {
	t.Helper()
	token, err := auth.SignGuest(testGuestKey, chat.User{ID: guest.ID, Name: guest.Name}, issued, guestTTL)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestGuestSignsOut signs a guest out. All tokens of the guest must be refused, and all sockets closed. Other guests must
// stay signed in.
func TestGuestSignsOut(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withGuests)
	h := s.Handler()
	guest := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	other := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Lan"}`), 200)
	stolen := signGuest(t, guest.User, time.Now().Add(-time.Minute))
	c := dial(t, s.listen(t), wire.JSON)
	c.connect(stolen, "{}")
	mustAnswer[wire.DisconnectReply](t, ask(t, h, "POST", "/v1/guests/sign_out", guest.Token, ""), 200)
	c.mustClose(wire.CloseRevoked)
	for _, token := range []string{guest.Token, stolen} {
		for _, path := range []string{"commands/wallet", "guests/renew", "guests/sign_out"} {
			mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/"+path, token, "{}"), 401)
		}
	}
	mustAnswer[wire.WalletReply](t, ask(t, h, "POST", "/v1/commands/wallet", other.Token, "{}"), 200)
}

// TestGuestRenews renews the token of a guest shortly before it expires, and after.
func TestGuestRenews(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withGuests)
	h := s.Handler()
	guest := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	last := signGuest(t, guest.User, time.Now().Add(time.Minute-guestTTL))
	renewed := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests/renew", last, ""), 200)
	id, err := s.tokens.Verify(t.Context(), renewed.Token)
	if err != nil || renewed.User != guest.User || id.User.ID != guest.User.ID || id.User.Name != "Mei" || time.Until(id.Expires) < guestTTL-time.Minute {
		t.Errorf("renewed %+v: %+v, %v; want a token of the same guest for %v", renewed, id, err, guestTTL)
	}
	over := signGuest(t, guest.User, time.Now().Add(-time.Second-guestTTL))
	if got := mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/renew", over, ""), 401).Error.Code; got != wire.CodeTokenExpired {
		t.Errorf("an expired token was answered with %d, want %d", got, wire.CodeTokenExpired)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/renew", goodToken(t, "ann"), ""), 403)
}

// TestRevokedGuestDoesNotRenew renews the token of a guest on an instance that has missed the revocation.
func TestRevokedGuestDoesNotRenew(t *testing.T) {
	t.Parallel()
	a, b, bus := twoInstancesLossyBus(t, withGuests)
	guest := mustAnswer[wire.GuestReply](t, ask(t, b.Handler(), "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	bus.loses.Store(true)
	revoke(t, a, guest.User.ID)
	mustAnswer[wire.WalletReply](t, ask(t, b.Handler(), "POST", "/v1/commands/wallet", guest.Token, "{}"), 200) // b does not know yet
	mustAnswer[wire.ErrorBody](t, ask(t, b.Handler(), "POST", "/v1/guests/renew", guest.Token, ""), 401)
}
