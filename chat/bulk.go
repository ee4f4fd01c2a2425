package chat

import (
	"context"
	"fmt"
	"slices"
)

const (
	membersPerBulk  = 10_000
	membersPerBatch = 200 // in one transaction, so that it holds the room's lock for milliseconds
	usersAnnounced  = 50  // most users that MembersChange.Users names; MembersChange.Count has the number of all
)

// BulkChange is the result of AddMembers and RemoveMembers.
type BulkChange struct {
	Changed   int
	Unchanged int // users to add that were members already, or users to remove that were not members
	Refused   []Refusal

	first []string // of the changed users, at most usersAnnounced
}

// AddMembers adds users to a room for the host, and creates those that are unknown. Blocks and contact settings do not count.
// Users that cannot be added are in BulkChange.Refused. If announce is set and a user was added, one entry records the change;
// otherwise none does.
// After an error some users may have been added. The same request then adds the others, and announces only the others.
func (s *Service) AddMembers(ctx context.Context, room string, users []string, announce bool) (BulkChange, error) {
	return s.changeMembers(ctx, Change{Kind: AddMembers, Room: room, By: System}, users, announce)
}

// RemoveMembers removes users from a room for the host, but not the room's owner. If announce is set and a user was removed, one
// entry records the change; otherwise none does. After an error some users may have been removed: see AddMembers.
func (s *Service) RemoveMembers(ctx context.Context, room string, users []string, announce bool) (BulkChange, error) {
	return s.changeMembers(ctx, Change{Kind: RemoveMembers, Room: room, By: System}, users, announce)
}

func (s *Service) changeMembers(ctx context.Context, c Change, users []string, announce bool) (all BulkChange, err error) {
	switch {
	case len(users) == 0:
		return BulkChange{}, BadField("users", "must name somebody")
	case len(users) > membersPerBulk:
		return BulkChange{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", membersPerBulk), Limit: membersPerBulk}
	}
	for n, user := range users {
		if err := CheckUser(fmt.Sprintf("users[%d]", n), user); err != nil {
			return BulkChange{}, err
		}
	}
	if err := checkID("room", c.Room); err != nil {
		return BulkChange{}, err
	}
	if err := s.roomExists(ctx, c.Room); err != nil { // checked before unknown users are created
		return BulkChange{}, err
	}
	each := slices.Compact(slices.Sorted(slices.Values(users)))
	for batch := range slices.Chunk(each, membersPerBatch) {
		if c.Kind == AddMembers {
			if err := s.store.EnsureUsers(ctx, batch); err != nil {
				return BulkChange{}, err
			}
		}
		c.Users = batch
		done, err := s.change(ctx, c)
		if err != nil {
			return BulkChange{}, err
		}
		all.Changed += len(done.Affected)
		all.Unchanged += len(batch) - len(done.Affected) - len(done.Refused)
		all.Refused = append(all.Refused, done.Refused...)
		all.first = append(all.first, done.Affected[:min(len(done.Affected), usersAnnounced-len(all.first))]...)
	}
	if announce && all.Changed > 0 {
		_, err = s.change(ctx, c.announcement(all))
	}
	return all, err
}

// announcement returns the change that records in one entry which users AddMembers or RemoveMembers has added or removed.
func (c Change) announcement(all BulkChange) Change {
	said := MembersChange{Users: all.first, Count: all.Changed}
	said.User, said.By, said.Change = all.first[0], c.By.ID, "added"
	if c.Kind == RemoveMembers {
		said.Change = "removed"
	}
	return Change{Kind: Announce, Room: c.Room, By: c.By, Said: said}
}
