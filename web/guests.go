package web

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// Guests configures guests: users that have no account with the host.
type Guests struct {
	Key    []byte          // signs guests' tokens, at least 32 bytes; empty: guests are disabled
	Credit redpacket.Money // initial balance of a new guest
}

// guestTTL is how long a guest's token is valid. A guest cannot get another token, so when it expires, the guest's
// money and rooms are lost. An administrator can revoke it earlier.
const guestTTL = 10 * 365 * 24 * time.Hour

// serveGuests creates a guest and returns their token. The request needs no token.
func (s *Server) serveGuests(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "guests", func(ctx context.Context, data []byte) ([]byte, error) {
		if len(s.o.Guests.Key) == 0 {
			return nil, chat.ErrNotFound
		}
		if err := s.rates.SpendGuest(ctx, subnet(s.proxies.client(r))); err != nil {
			return nil, err
		}
		var request wire.GuestRequest
		if err := api.Decode(data, &request); err != nil {
			return nil, err
		}
		return encode(s.newGuest(ctx, &request))
	})
}

// newGuest creates a guest. It credits the guest before it returns the token, so that a guest never sees an empty
// wallet.
func (s *Server) newGuest(ctx context.Context, r *wire.GuestRequest) (wire.GuestReply, error) {
	name := strings.TrimSpace(r.Name)
	switch {
	case name == "":
		return wire.GuestReply{}, chat.BadField("name", "is empty")
	case utf8.RuneCountInString(name) > auth.MaxNameChars:
		return wire.GuestReply{}, &chat.FieldError{Err: chat.ErrTooLong, Field: "name", Reason: "has more than 64 characters"}
	}
	user := chat.User{ID: auth.NewGuestID(), Name: name}
	if err := s.chat.SignIn(ctx, user); err != nil {
		return wire.GuestReply{}, err
	}
	if s.o.Guests.Credit > 0 {
		if _, _, err := s.packets.Adjust(ctx, redpacket.AdjustRequest{User: user.ID, Amount: s.o.Guests.Credit, Key: user.ID, Note: "welcome", Actor: "guests"}); err != nil {
			return wire.GuestReply{}, err
		}
	}
	token, err := auth.SignGuest(s.o.Guests.Key, user, guestTTL)
	return wire.GuestReply{Token: token, User: convert.User(user)}, err
}
