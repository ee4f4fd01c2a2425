package chat

import (
	"context"
	"time"
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

// PutUser creates a user, or changes the name and avatar of one, as the host says. nil: it stays as it is. It makes the other
// instances forget what they know of the user. A later token of the user may change both again.
func (s *Service) PutUser(ctx context.Context, user string, name, avatar *string) (User, error) {
	if err := CheckUser("user", user); err != nil {
		return User{}, err
	}
	p := Profile{User: User{ID: user}, KeepName: name == nil, KeepAvatar: avatar == nil}
	if name != nil {
		var err error
		if p.Name, err = checkName(*name, s.limits.NameChars); err != nil {
			return User{}, err
		}
	}
	if avatar != nil && *avatar != "" {
		if p.Avatar = NormalAvatar(*avatar); p.Avatar == "" || len(p.Avatar) > maxAvatarBytes {
			return User{}, BadField("avatar", "must be an address of http or https of at most 1024 bytes")
		}
	}
	// A revocation counts to the end of its second. The host is not revoked, so it speaks from after that.
	u, err := s.Admit(ctx, p, s.now().Add(time.Second))
	if err != nil {
		return User{}, err
	}
	s.pub.StandingChanged("", user)
	return u, nil
}

// CheckUser returns an error that names the field unless the text has the form of a user's id.
func CheckUser(field, user string) error {
	if !ValidUser(user) {
		return BadField(field, "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	return nil
}
