package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Guests says whether people may come without an account of the host, and what they get.
type Guests struct {
	Key    []byte // signs their tokens, at least 32 bytes; empty: no guests
	Credit redpacket.Money
}

// guestTTL is how long a guest can come back. His token is all that he is, and there is nobody to give him another: whatever
// the time, on the day after it his money and his rooms would be gone. An administrator can end it before.
const guestTTL = 10 * 365 * 24 * time.Hour

// serveGuests makes a new guest; nobody has to be known for that.
func (s *Server) serveGuests(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "guests", func(ctx context.Context, data []byte) ([]byte, error) {
		if len(s.o.Guests.Key) == 0 {
			return nil, chat.ErrNotFound
		}
		if err := s.rates.admitGuest(ctx, neighbourhood(s.proxies.client(r))); err != nil {
			return nil, err
		}
		return encode(s.run(ctx, Caller{}, changing((*Server).newGuest), data))
	})
}

// newGuest gives the guest his money before anyone hears of him, so that he never sees an empty wallet.
func (s *Server) newGuest(ctx context.Context, _ Caller, r *wire.GuestRequest) (wire.GuestReply, error) {
	name := strings.TrimSpace(r.Name)
	switch {
	case name == "":
		return wire.GuestReply{}, chat.BadField("name", "is empty")
	case utf8.RuneCountInString(name) > nameChars:
		return wire.GuestReply{}, &chat.FieldError{Err: chat.ErrTooLong, Field: "name", Reason: "has more than 64 characters"}
	}
	user := chat.User{ID: guestPrefix + strings.ToLower(rand.Text()), Name: name}
	if err := s.chat.SignIn(ctx, user); err != nil {
		return wire.GuestReply{}, err
	}
	if s.o.Guests.Credit > 0 {
		if _, _, err := s.packets.Adjust(ctx, user.ID, s.o.Guests.Credit, user.ID, "welcome"); err != nil {
			return wire.GuestReply{}, err
		}
	}
	token, err := MintToken(s.o.Guests.Key, Claims{User: user.ID, Name: name, Issuer: guestIssuer}, guestTTL)
	return wire.GuestReply{Token: token, User: wireUser(user)}, err
}
