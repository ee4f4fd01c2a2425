package chat

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Contact says which users may open a direct room with a user and put the user into rooms.
type Contact string

// The values of a user's contact setting. Shared allows only users that, at the time of the request, are in some room
// together with the user.
const (
	Everyone Contact = "everyone"
	Shared   Contact = "shared"
	Nobody   Contact = "nobody"
)

// Contacts is what a user has decided about contact with others.
type Contacts struct {
	Contact Contact
	Blocked []User // ordered by id; a user whom the blocker never knew has an id only (see Store.Known)
}

// Blocking is a request to block a user.
type Blocking struct {
	User, Blocked string
	At            time.Time
	Most          int // limit: users that User may block
}

// Block blocks a user. Neither of the two can then put the other into a room or enter their direct room, and the blocked
// user cannot mention u. Block takes u out of the direct room of the two, so that the blocked user cannot write into it. A
// repeated Block succeeds.
func (s *Service) Block(ctx context.Context, u User, other string) error {
	if err := checkOther(u, other); err != nil {
		return err
	}
	room, err := s.store.Block(ctx, Blocking{User: u.ID, Blocked: other, At: s.now(), Most: s.limits.Blocks})
	if err != nil {
		return err
	}
	s.pub.ToUser(u.ID, ContactsChanged{User: other, Blocked: true})
	if room == "" {
		return nil
	}
	return s.Leave(ctx, u, room)
}

// Unblock ends a block. It does not bring u back to the direct room. A repeated Unblock succeeds.
func (s *Service) Unblock(ctx context.Context, u User, other string) error {
	if err := checkOther(u, other); err != nil {
		return err
	}
	if err := s.store.Unblock(ctx, u.ID, other); err != nil {
		return err
	}
	s.pub.ToUser(u.ID, ContactsChanged{User: other})
	return nil
}

// Contacts returns what the user has decided about contact with others.
func (s *Service) Contacts(ctx context.Context, user string) (Contacts, error) {
	return s.store.Contacts(ctx, user)
}

// usersPerRequest is how many users one request may ask about.
const usersPerRequest = 100

// Users returns those of the users whose names the viewer may learn (see Store.Known), ordered by id. For the other users it
// does not reveal whether they exist.
func (s *Service) Users(ctx context.Context, viewer string, users []string) ([]User, error) {
	switch {
	case len(users) == 0:
		return nil, BadField("users", "must name somebody")
	case len(users) > usersPerRequest:
		return nil, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("has %d ids, must be at most %d", len(users), usersPerRequest)}
	}
	for _, user := range users {
		if err := checkID("users", user); err != nil {
			return nil, err
		}
	}
	return s.store.Known(ctx, viewer, users)
}

// SetContact changes which users may open a direct room with the user and put the user into rooms.
func (s *Service) SetContact(ctx context.Context, user string, c Contact) error {
	if !slices.Contains([]Contact{Everyone, Shared, Nobody}, c) {
		return BadField("contact", "must be everyone, shared or nobody")
	}
	if err := s.store.SetContact(ctx, user, c); err != nil {
		return err
	}
	s.pub.ToUser(user, ContactsChanged{Contact: c})
	return nil
}

func checkOther(u User, other string) error {
	switch {
	case !ValidUser(other):
		return BadField("user", "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	case other == u.ID:
		return BadField("user", "must be another one")
	}
	return nil
}

// BlockerStore is the part of Store that WithoutBlockers needs.
type BlockerStore interface {
	Blockers(ctx context.Context, user string, of []string) ([]string, error)
}

// WithoutBlockers returns the users without those that have blocked from. It decides which users a user can mention, and for which users
// an entry is news: for the host's events as for Web Push. It does not change users.
func WithoutBlockers(ctx context.Context, store BlockerStore, from string, users []string) ([]string, error) {
	if len(users) == 0 {
		return nil, nil
	}
	blockers, err := store.Blockers(ctx, from, users)
	if err != nil || len(blockers) == 0 {
		return users, err
	}
	return slices.DeleteFunc(slices.Clone(users), func(user string) bool { return slices.Contains(blockers, user) }), nil
}
