package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// UserRecord is what the host sees of a user.
type UserRecord struct {
	User
}

// UserRecord returns a user; ErrNotFound if no token and no command has named the user yet.
func (s *Service) UserRecord(ctx context.Context, user string) (UserRecord, error) {
	if err := CheckUser("user", user); err != nil {
		return UserRecord{}, err
	}
	return s.store.UserRecord(ctx, user)
}

// maxAvatarBytes is the largest size of an avatar that a host may set.
const maxAvatarBytes = 1024

// UserChange is what the host says about a user. nil: it stays as it is.
type UserChange struct {
	User   string
	Name   *string
	Avatar *string
}

// profile checks the change, and returns it as the store takes it.
func (c UserChange) profile(l Limits) (Profile, error) {
	if err := CheckUser("user", c.User); err != nil {
		return Profile{}, err
	}
	p := Profile{User: User{ID: c.User}, KeepName: c.Name == nil, KeepAvatar: c.Avatar == nil}
	if c.Name != nil {
		var err error
		if p.Name, err = checkName(*c.Name, l.NameChars); err != nil {
			return Profile{}, err
		}
	}
	if c.Avatar != nil && *c.Avatar != "" {
		if p.Avatar = NormalAvatar(*c.Avatar); p.Avatar == "" || len(p.Avatar) > maxAvatarBytes {
			return Profile{}, BadField("avatar", "must be an address of http or https of at most 1024 bytes")
		}
	}
	return p, nil
}

// PutUser creates a user, or changes the name and avatar of one, as the host says. It makes the other instances forget what they know of
// the user. A later token of the user may change both again.
func (s *Service) PutUser(ctx context.Context, c UserChange) (User, error) {
	p, err := c.profile(s.limits)
	if err != nil {
		return User{}, err
	}
	return s.putProfile(ctx, p)
}

func (s *Service) putProfile(ctx context.Context, p Profile) (User, error) {
	// A revocation counts to the end of its second. The host is not revoked, so it speaks from after that.
	u, err := s.Admit(ctx, p, s.now().Add(time.Second))
	if err != nil {
		return User{}, err
	}
	s.pub.StandingChanged("", p.ID)
	return u, nil
}

const (
	usersPerPut = 1000
	putsAtOnce  = 8 // transactions that wait for the disk together
)

// PutUsers is PutUser for many users. If one of the changes is faulty, it stores none. After another error some of them may be stored.
func (s *Service) PutUsers(ctx context.Context, changes []UserChange) ([]User, error) {
	switch {
	case len(changes) == 0:
		return nil, BadField("users", "must name somebody")
	case len(changes) > usersPerPut:
		return nil, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", usersPerPut), Limit: usersPerPut}
	}
	profiles := make([]Profile, len(changes))
	for n, c := range changes {
		var err error
		if profiles[n], err = c.profile(s.limits); err != nil {
			return nil, inList(err, "users", n)
		}
	}
	stored := make([]User, len(changes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(putsAtOnce)
	for n, p := range profiles {
		group.Go(func() (err error) {
			stored[n], err = s.putProfile(ctx, p)
			return err
		})
	}
	return stored, group.Wait()
}

// inList returns the error of a field as that of the same field in an element of a list, such as users[3].name.
func inList(err error, list string, n int) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	in := *field
	in.Field = fmt.Sprintf("%s[%d].%s", list, n, field.Field)
	return &in
}

// CheckUser returns an error that names the field unless the text has the form of a user's id.
func CheckUser(field, user string) error {
	if !ValidUser(user) {
		return BadField(field, "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	return nil
}
