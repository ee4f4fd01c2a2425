// Package guest creates guests: users without an account of the host. It signs their tokens, and changes their names and avatars.
//
// It must always hold:
//
//   - The tokens of guests are signed with a key that signs nothing else, and expire.
//   - A guest has the initial balance before they get their token.
//   - A guest cannot take a reserved name.
//   - The avatar of a guest, if any, is one that the page draws, or a picture that the guest has uploaded. It is never an address on
//     another server, because that server would learn about every user that sees the guest.
//   - With a revoked token, or with the token of a suspended guest, nobody gets a newer token or a device code, or changes the
//     profile.
package guest

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TTL is how long a guest's token is valid. The guest can renew it during this time. A guest whose last token has expired cannot
// reach their money and rooms any more.
const TTL = 90 * 24 * time.Hour

// Options configures guests.
type Options struct {
	Key         []byte          // signs guests' tokens, at least 32 bytes; empty: guests are disabled
	PreviousKey []byte          // guests' tokens may also be signed with it; may be empty
	Credit      redpacket.Money // initial balance of a new guest
	// Reserved are names that a guest may not take.
	Reserved chat.ReservedNames
}

// Service creates guests and changes them.
type Service struct {
	// static
	chat    *chat.Service
	packets *redpacket.Service
	o       Options
	now     func() time.Time
}

// New returns a Service over the two services of the domain.
func New(rooms *chat.Service, packets *redpacket.Service, o Options, now func() time.Time) *Service {
	return &Service{chat: rooms, packets: packets, o: o, now: now}
}

// On reports whether guests are enabled.
func (s *Service) On() bool { return len(s.o.Key) > 0 }

// Make creates a guest. It credits the guest before it returns the token, so that no guest sees a wallet without the initial balance.
func (s *Service) Make(ctx context.Context, r *wire.GuestRequest) (wire.GuestReply, error) {
	name, err := s.checkName(r.Name)
	if err != nil {
		return wire.GuestReply{}, err
	}
	user := chat.User{ID: auth.NewGuestID(), Name: name}
	if err := s.chat.SignIn(ctx, user); err != nil {
		return wire.GuestReply{}, err
	}
	if s.o.Credit > 0 {
		if _, _, err := s.packets.Adjust(ctx, redpacket.AdjustRequest{User: user.ID, Amount: s.o.Credit, Key: user.ID, Note: "welcome", Actor: "guests"}); err != nil {
			return wire.GuestReply{}, err
		}
	}
	return s.sign(user, s.now())
}

// checkName returns the normal form of a name that a guest may take.
func (s *Service) checkName(name string) (string, error) {
	tooLong := &chat.FieldError{Err: chat.ErrTooLong, Field: "name", Reason: "has more than 64 characters"}
	if len(name) > chat.RawBytes(auth.MaxNameChars) {
		return "", tooLong
	}
	name, ok := chat.NormalName(name)
	switch {
	case !ok:
		return "", chat.BadField("name", "must not hold characters that cannot be seen")
	case s.o.Reserved.Holds(name):
		return "", chat.BadField("name", "is reserved")
	case name == "":
		return "", chat.BadField("name", "is empty")
	case utf8.RuneCountInString(name) > auth.MaxNameChars:
		return "", tooLong
	}
	return name, nil
}

func (s *Service) sign(user chat.User, issued time.Time) (wire.GuestReply, error) {
	token, err := auth.SignGuest(s.o.Key, user, issued, TTL)
	return wire.GuestReply{Token: token, User: convert.User(user)}, err
}

// Renew returns a newer token. It asks the store whether the present one was revoked, because a cached answer may be
// outdated, and the new token would outlive the revocation. The time of issue of the new token is taken before the store is
// asked. So a revocation that the store's answer does not show yet also refuses the new token.
func (s *Service) Renew(ctx context.Context, guest auth.Identity) (wire.GuestReply, error) {
	issued := s.now()
	revoked, err := s.chat.Revoked(ctx, []string{guest.User.ID})
	switch second, found := revoked[guest.User.ID]; {
	case err != nil:
		return wire.GuestReply{}, err
	case second == chat.SuspendedSecond:
		return wire.GuestReply{}, chat.ErrSuspended
	case found && guest.Issued.Unix() <= second:
		return wire.GuestReply{}, chat.ErrRevoked
	}
	return s.sign(guest.User.User, issued)
}

// SetProfile changes the name and the avatar that others see.
func (s *Service) SetProfile(ctx context.Context, guest auth.Identity, r *wire.ProfileRequest) (wire.ProfileReply, error) {
	user := guest.User.User
	if r.Name != nil {
		name, err := s.checkName(*r.Name)
		if err != nil {
			return wire.ProfileReply{}, err
		}
		user.Name = name
	}
	if r.Avatar != nil {
		if *r.Avatar != "" && *r.Avatar != user.Avatar && !slices.Contains(Avatars(), *r.Avatar) {
			return wire.ProfileReply{}, chat.BadField("avatar", "must be avatars/1.svg to "+Avatars()[mostAvatar-1])
		}
		user.Avatar = *r.Avatar
	}
	if user == guest.User.User {
		return wire.ProfileReply{User: convert.User(user)}, nil
	}
	set := s.chat.SetProfile
	if user.Avatar != guest.User.Avatar && chat.IsPicture(guest.User.Avatar) {
		set = s.chat.ReplacePicture
	}
	if err := set(ctx, user, guest.Issued); err != nil {
		return wire.ProfileReply{}, err
	}
	return wire.ProfileReply{User: convert.User(user)}, nil
}

// NewDeviceCode returns a code with which the guest may sign in once on another device.
func (s *Service) NewDeviceCode(ctx context.Context, guest auth.Identity) (wire.DeviceCodeReply, error) {
	code, until, err := s.chat.NewDeviceCode(ctx, guest.User.ID, guest.Issued)
	return wire.DeviceCodeReply{Code: code, ExpiresAt: until.UnixMilli()}, err
}

// Redeem returns a token of the guest that made the device code.
func (s *Service) Redeem(ctx context.Context, r *wire.RedeemRequest) (wire.GuestReply, error) {
	issued := s.now() // before the code is taken: a later revocation refuses the token
	user, err := s.chat.TakeDeviceCode(ctx, r.Code)
	if err != nil {
		return wire.GuestReply{}, err
	}
	user.Name = cmp.Or(user.Name, user.ID)
	return s.sign(user, issued)
}
