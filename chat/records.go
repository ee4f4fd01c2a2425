package chat

import "context"

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

// CheckUser returns an error that names the field unless the text has the form of a user's id.
func CheckUser(field, user string) error {
	if !ValidUser(user) {
		return BadField(field, "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	return nil
}
