package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/page"
	"hongbao/web/user/auth"
	"hongbao/web/user/guest"
	"hongbao/web/wire"
)

const guestTTL = guest.TTL

// signGuest returns a token of a guest that was issued at the given time.
func signGuest(t *testing.T, guest wire.User, issued time.Time) string {
	t.Helper()
	token, err := auth.SignGuest(testGuestKey, chat.User{ID: guest.ID, Name: guest.Name}, issued, guestTTL)
	noError(t, err)
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

// TestGuestChangesNameAndAvatar changes a guest's profile while sockets of the guest are open on two instances. What the guest
// sends afterwards must have the new name, whatever the token says, and so must the list of members.
func TestGuestChangesNameAndAvatar(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		a, b := engines.open(t, withGuests), engines.open(t, withGuests)
		h := a.Handler()
		mei := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
		here, there := dial(t, a.listen(t), wire.JSON), dial(t, b.listen(t), wire.JSON)
		here.connect(mei.Token, "{}")
		there.connect(mei.Token, "{}")
		created := mustAnswer[wire.CreateRoomReply](t, ask(t, h, "POST", "/v1/commands/create_room", mei.Token, `{"key":"r","name":"Hall"}`), 200)
		changed := mustAnswer[wire.ProfileReply](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, `{"name":" Lan ","avatar":"avatars/3.svg"}`), 200)
		want := wire.User{ID: mei.User.ID, Name: "Lan", Avatar: "avatars/3.svg", Guest: true}
		if changed.User != want {
			t.Errorf("changed to %+v, want %+v", changed.User, want)
		}
		said := func(c *rawClient, id uint32) wire.User { // by a socket: its session has the guest's name
			var sent wire.SendReply
			if reply := c.play(id, "send", fmt.Sprintf(`{"room":%q,"key":"k%d","text":"hi"}`, created.Room.ID, id)); json.Unmarshal([]byte(reply), &sent) != nil {
				t.Fatal(reply)
			}
			page := mustAnswer[wire.HistoryReply](t, ask(t, h, "POST", "/v1/commands/history", mei.Token, fmt.Sprintf(`{"room":%q,"after":%d}`, created.Room.ID, sent.Seq-1)), 200)
			return page.Entries[0].From
		}
		if got := said(here, 2); got != want {
			t.Errorf("on the instance that was asked the user is %+v, want %+v", got, want)
		}
		id := uint32(1)
		b.eventually(t, "the new name on the other instance", func() bool {
			id++
			return said(there, id+1000) == want
		})
		members := mustAnswer[wire.MembersReply](t, ask(t, h, "POST", "/v1/commands/members", mei.Token, fmt.Sprintf(`{"room":%q}`, created.Room.ID)), 200)
		if members.Members[0].User != want {
			t.Errorf("the member is %+v, want %+v", members.Members[0].User, want)
		}
		kept := mustAnswer[wire.ProfileReply](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, `{"avatar":""}`), 200)
		if kept.User.Name != "Lan" || kept.User.Avatar != "" {
			t.Errorf("without an avatar the user is %+v, want Lan", kept.User)
		}
	})
}

// TestGuestProfileIsRefused asks for profiles that a guest may not have.
func TestGuestProfileIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withGuests, func(o *Options) { o.Guests.Reserved = chat.ReservedNames{"official"} })
	h := s.Handler()
	mei := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	for body, message := range map[string]string{
		`{"name":""}`:                              "bad_request field=name",
		`{"name":"the official"}`:                  "bad_request field=name",
		`{"name":"` + long(65) + `"}`:              "too_long field=name",
		`{"avatar":"https://example.com/eye.png"}`: "bad_request field=avatar",
		`{"avatar":"avatars/13.svg"}`:              "bad_request field=avatar",
		`{"avatar":"avatars/../icon.svg"}`:         "bad_request field=avatar",
		`{"name":1}`:                               "bad_request field=name",
	} {
		if got := mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, body), 400).Error.Message; got != message {
			t.Errorf("%s: %q, want %q", body, got, message)
		}
	}
	renewed := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests/renew", mei.Token, ""), 200)
	if renewed.User != mei.User {
		t.Errorf("the guest is %+v, want %+v", renewed.User, mei.User)
	}
	mustAnswer[wire.DisconnectReply](t, ask(t, h, "POST", "/v1/guests/sign_out", mei.Token, ""), 200)
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, `{"name":"Lan"}`), 401)
}

// TestDeviceCodeSignsInOnce makes a device code and signs in by it, twice.
func TestDeviceCodeSignsInOnce(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withGuests)
	h := s.Handler()
	mei := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	made := mustAnswer[wire.DeviceCodeReply](t, ask(t, h, "POST", "/v1/guests/device_code", mei.Token, ""), 200)
	if left := time.Until(time.UnixMilli(made.ExpiresAt)); left <= 0 || left > 10*time.Minute {
		t.Errorf("the code is valid for %v, want 10 minutes", left)
	}
	if strings.Contains(s.dump(t), made.Code) {
		t.Error("the code is in the database")
	}
	redeem := func(code string, status int) *http.Response {
		r := ask(t, h, "POST", "/v1/guests/redeem", "", `{"code":"`+code+`"}`)
		if r.StatusCode != status {
			t.Errorf("code %q: status %d, want %d", code, r.StatusCode, status)
		}
		return r
	}
	for _, wrong := range []string{"x", mei.User.ID, mei.User.ID + "~", made.Code + "x", "guest:other~" + made.Code} {
		redeem(wrong, 404)
	}
	other := mustAnswer[wire.GuestReply](t, redeem(made.Code, 200), 200)
	if other.User != mei.User {
		t.Errorf("signed in as %+v, want %+v", other.User, mei.User)
	}
	for _, token := range []string{mei.Token, other.Token} {
		mustAnswer[wire.WalletReply](t, ask(t, h, "POST", "/v1/commands/wallet", token, "{}"), 200)
	}
	if got := mustAnswer[wire.ErrorBody](t, redeem(made.Code, 404), 404).Error.Message; got != "not_found field=code" {
		t.Errorf("a used code was answered with %q", got)
	}
	again := mustAnswer[wire.DeviceCodeReply](t, ask(t, h, "POST", "/v1/guests/device_code", mei.Token, ""), 200)
	mustAnswer[wire.DisconnectReply](t, ask(t, h, "POST", "/v1/guests/sign_out", mei.Token, ""), 200)
	redeem(again.Code, 404)
}

// TestRevokedGuestChangesNothing uses a token on an instance that has missed its revocation. It must neither rename the guest nor
// make a device code, by which the guest could be taken over for good.
func TestRevokedGuestChangesNothing(t *testing.T) {
	t.Parallel()
	a, b, bus := twoInstancesLossyBus(t, withGuests)
	h := b.Handler()
	mei := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	bus.loses.Store(true)
	revoke(t, a, mei.User.ID)
	mustAnswer[wire.WalletReply](t, ask(t, h, "POST", "/v1/commands/wallet", mei.Token, "{}"), 200) // b does not know yet
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/device_code", mei.Token, ""), 401)
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, `{"name":"Lan"}`), 401)
}

// TestAvatarsAreServed reads the pictures that guests may choose. The page must not have others.
func TestAvatarsAreServed(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	for _, address := range guest.Avatars() {
		if r := ask(t, h, "GET", "/"+address, "", ""); r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %d %s", address, r.StatusCode, r.Header.Get("Content-Type"))
		}
	}
	if files, err := page.Static.ReadDir("static/avatars"); err != nil || len(files) != len(guest.Avatars()) {
		t.Errorf("%d files, %v; want %d", len(files), err, len(guest.Avatars()))
	}
}
