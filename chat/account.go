package chat

import (
	"context"
	"strings"
	"time"
)

// account is a user as the store has him.
type account struct {
	User // zero: not known

	notBefore int64 // up to this second of Unix time his tokens are refused; 0: none is
}

// refuses tells whether a token that was issued then is one of those that were revoked. One that does not say when has the
// zero time, which is before them all.
func (a account) refuses(issued time.Time) bool {
	return a.notBefore > 0 && issued.Unix() <= a.notBefore
}

// SignIn notes the user, who has been let in, as his token shows him. One who is as he was last time costs nothing.
func (s *Service) SignIn(ctx context.Context, u User) error {
	_, err := s.account(ctx, u, s.now())
	return err
}

// Admit is SignIn with a token issued then; the zero time: it does not say. ErrRevoked: it is refused.
func (s *Service) Admit(ctx context.Context, u User, issued time.Time) error {
	if known, _, ok := s.users.get(seat{user: u.ID}); ok && known.refuses(issued) {
		return ErrRevoked // and what it says of the user is not news
	}
	a, err := s.account(ctx, u, issued)
	if err == nil && a.refuses(issued) {
		return ErrRevoked
	}
	return err
}

// Revoke refuses all tokens of the user that have been issued until now.
func (s *Service) Revoke(ctx context.Context, user string) error {
	if !ValidUser(user) {
		return BadField("user", "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	err := s.store.Revoke(ctx, user, s.now().Unix())
	s.Forget("", user) // whatever came of it
	if err != nil {
		return err
	}
	s.pub.Moved("", user)
	return nil
}

// account notes the user, unless his token is refused, and gives what is known of him.
func (s *Service) account(ctx context.Context, u User, issued time.Time) (account, error) {
	if err := checkID("user", u.ID); err != nil {
		return account{}, err
	}
	if known, _, ok := s.users.get(seat{user: u.ID}); ok && known.User == u {
		return known, nil
	}
	version := s.users.drop(seat{user: u.ID})
	notBefore, err := s.store.PutUser(ctx, u, max(issued.Unix(), 0))
	if err != nil {
		return account{}, err
	}
	id := strings.Clone(u.ID) // what is kept must not hold a whole request in memory
	a := account{notBefore: notBefore}
	if !a.refuses(issued) { // else nobody knows what the store has of him
		a.User = User{ID: id, Name: strings.Clone(u.Name), Avatar: strings.Clone(u.Avatar)}
	}
	s.users.put(seat{user: id}, a, version)
	return a, nil
}
