package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// CreateRoom is a request to create a room. The kind defaults to Public.
type CreateRoom struct {
	Key     string
	Name    string
	Kind    RoomKind
	Members []string // besides the owner
}

// Rooms lists the rooms that the user is in. It also caches the user's standings in them, because the client is about
// to use them. Otherwise, when many users connect at the same time, each standing would be read on its own.
func (s *Service) Rooms(ctx context.Context, user string) ([]Membership, error) {
	changes := s.standings.changes()
	in, err := s.store.Memberships(ctx, user)
	for _, m := range in {
		s.standings.putIfUnchanged(memberKey{m.Room.ID, user}, Standing{Ever: true, In: true, Role: m.Role, MutedUntil: m.MutedUntil}, changes)
	}
	return in, err
}

// CreateRoom creates a room and publishes it to its members. A repeated key returns the room that its first use
// created.
func (s *Service) CreateRoom(ctx context.Context, owner User, r CreateRoom) (m Membership, dup bool, err error) {
	r.Kind = cmp.Or(r.Kind, Public)
	if err := s.unlessKeyUsed(ctx, owner.ID, r.Key, r.check(s.limits)); err != nil {
		return Membership{}, false, err
	}
	if err := s.SignIn(ctx, owner); err != nil {
		return Membership{}, false, err
	}
	now := s.now()
	room := NewRoom{
		ID: s.newID(now), Name: strings.TrimSpace(r.Name), Kind: r.Kind, Owner: owner, Members: r.others(owner.ID),
		Key: r.Key, Hash: RequestHash("create_room", append([]string{r.Name, string(r.Kind)}, r.Members...)...),
		At: now, MaxRooms: s.limits.Rooms,
	}
	if m, dup, err = s.store.CreateRoom(ctx, room); err != nil || dup {
		return m, dup, err
	}
	s.pub.ToUser(owner.ID, Entered{Membership: m})
	for _, user := range room.Members {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: m.Room, Role: Plain}})
	}
	return m, false, nil
}

// others returns the first members without the owner and without repetitions.
func (r CreateRoom) others(owner string) []string {
	var users []string
	for _, u := range r.Members {
		if u != owner && !slices.Contains(users, u) {
			users = append(users, u)
		}
	}
	return users
}

func (r CreateRoom) check(l Limits) error {
	if err := CheckKey(r.Key); err != nil {
		return err
	}
	if err := checkText("name", strings.TrimSpace(r.Name), l.NameChars); err != nil {
		return err
	}
	if r.Kind != Public && r.Kind != Private {
		return BadField("kind", "must be public or private")
	}
	if len(r.Members) > l.InviteUsers {
		return &FieldError{Err: ErrLimitExceeded, Field: "members", Reason: fmt.Sprintf("must be at most %d", l.InviteUsers)}
	}
	for _, user := range r.Members {
		if err := checkID("members", user); err != nil {
			return err
		}
	}
	return nil
}

// FindRooms lists public rooms whose name contains query, newest first.
func (s *Service) FindRooms(ctx context.Context, query, next string, limit int) (rooms []Room, more string, err error) {
	if err := checkOptional("query", query, s.limits.NameChars); err != nil {
		return nil, "", err
	}
	if limit, err = pageLimit(limit); err != nil {
		return nil, "", err
	}
	return s.store.FindRooms(ctx, query, next, limit)
}
