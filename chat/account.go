package chat

import (
	"context"
	"strings"
	"time"
)

// account is what the store knows of a user.
type account struct {
	User // zero: it is not known what the store has

	notBefore int64 // tokens issued at or before this Unix second are refused; 0: none are
}

// refuses reports whether a token issued at this time was revoked. The zero time stands for a token that does not say
// when it was issued; such a token is older than any revocation.
func (a account) refuses(issued time.Time) bool {
	return a.notBefore > 0 && issued.Unix() <= a.notBefore
}

// SignIn stores the user's name and avatar as they are in the user's token. If nothing has changed, it writes nothing.
func (s *Service) SignIn(ctx context.Context, u User) error {
	_, err := s.account(ctx, u, s.now())
	return err
}

// Admit is SignIn for a token that was issued at the given time; the zero time means that the token does not say. It
// returns ErrRevoked if the token was revoked.
func (s *Service) Admit(ctx context.Context, u User, issued time.Time) error {
	if known, _, ok := s.users.get(memberKey{user: u.ID}); ok && known.refuses(issued) {
		return ErrRevoked // the name and avatar in a revoked token are ignored
	}
	a, err := s.account(ctx, u, issued)
	if err == nil && a.refuses(issued) {
		return ErrRevoked
	}
	return err
}

// Revoke revokes all tokens of the user that were issued up to now.
func (s *Service) Revoke(ctx context.Context, user string) error {
	if !ValidUser(user) {
		return BadField("user", "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	err := s.store.Revoke(ctx, user, s.now().Unix())
	s.Forget("", user) // also after an error: the outcome may be unknown
	if err != nil {
		return err
	}
	s.pub.StandingChanged("", user)
	return nil
}

// account stores the user's name and avatar, unless the token was revoked. It returns what the store then knows of the
// user.
func (s *Service) account(ctx context.Context, u User, issued time.Time) (account, error) {
	if err := checkID("user", u.ID); err != nil {
		return account{}, err
	}
	if known, _, ok := s.users.get(memberKey{user: u.ID}); ok && known.User == u {
		return known, nil
	}
	version := s.users.drop(memberKey{user: u.ID})
	notBefore, err := s.store.PutUser(ctx, u, max(issued.Unix(), 0))
	if err != nil {
		return account{}, err
	}
	id := strings.Clone(u.ID) // a copy: a cached part of a string would keep the whole request in memory
	a := account{notBefore: notBefore}
	if !a.refuses(issued) { // after a refusal it is not known which name and avatar the store has
		a.User = User{ID: id, Name: strings.Clone(u.Name), Avatar: strings.Clone(u.Avatar)}
	}
	s.users.put(memberKey{user: id}, a, version)
	return a, nil
}
