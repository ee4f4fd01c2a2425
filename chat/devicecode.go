package chat

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"
)

// A device code lets a user sign in on another device, once. It has the user's id, by which the user's row is found, and a
// secret of 130 bits. Only a hash of the code is stored.
const (
	deviceCodeTTL = 10 * time.Minute
	codeSeparator = "~" // occurs in no user id
)

// NewDeviceCode returns a new device code of the user, and when it ends. An earlier code is no longer valid. issued is the
// time at which the user's token was issued. ErrRevoked: the token was revoked, or the user is suspended.
func (s *Service) NewDeviceCode(ctx context.Context, user string, issued time.Time) (code string, until time.Time, err error) {
	code, until = user+codeSeparator+strings.ToLower(rand.Text()), s.now().Add(deviceCodeTTL)
	err = s.store.PutDeviceCode(ctx, user, issued.Unix(), hashOfCode(code), until)
	if errors.Is(err, ErrNotFound) {
		err = ErrRevoked
	}
	return code, until, err
}

// TakeDeviceCode returns the user of a device code. The code is not valid again.
func (s *Service) TakeDeviceCode(ctx context.Context, code string) (User, error) {
	unknown := &FieldError{Err: ErrNotFound, Field: "code", Reason: "is used, too old or unknown: make a new one"}
	user, _, ok := strings.Cut(code, codeSeparator)
	if !ok || !ValidUser(user) {
		return User{}, unknown
	}
	u, err := s.store.TakeDeviceCode(ctx, user, hashOfCode(code), s.now())
	if errors.Is(err, ErrNotFound) {
		err = unknown
	}
	return u, err
}

func hashOfCode(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// SetProfile stores another name and avatar of a user whose tokens do not have them, and makes the other instances drop the
// earlier ones from their caches. issued is the time at which the user's token was issued. If the token is refused,
// SetProfile returns ErrRevoked or ErrSuspended.
func (s *Service) SetProfile(ctx context.Context, u User, issued time.Time) error {
	if _, err := s.Admit(ctx, Profile{User: u}, issued); err != nil {
		return err
	}
	s.pub.StandingChanged("", u.ID)
	return nil
}
