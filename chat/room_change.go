package chat

import (
	"context"
	"strings"
)

// UpdateRoom changes a room's name or announcement. An empty name leaves the name unchanged; an empty announcement
// removes the announcement.
func (s *Service) UpdateRoom(ctx context.Context, by User, room string, to RoomChange) (Membership, error) {
	to, err := to.checked(s.limits)
	if err != nil {
		return Membership{}, err
	}
	done, err := s.change(ctx, Change{Kind: UpdateRoom, Room: room, By: by, To: to})
	if err != nil {
		return Membership{}, err
	}
	return Membership{Room: done.Room, Role: done.Role}, nil
}

func (to RoomChange) checked(l Limits) (RoomChange, error) {
	if to.Name != nil && *to.Name == "" {
		to.Name = nil
	}
	if to.Name != nil {
		name := strings.TrimSpace(*to.Name)
		if err := checkText("name", name, l.NameChars); err != nil {
			return RoomChange{}, err
		}
		to.Name = &name
	}
	if to.Announcement != nil {
		if err := checkOptional("announcement", *to.Announcement, l.AnnouncementChars); err != nil {
			return RoomChange{}, err
		}
	}
	return to, nil
}

// DeleteRoom deletes a room for good. Its members are removed.
func (s *Service) DeleteRoom(ctx context.Context, by User, room string) error {
	_, err := s.change(ctx, Change{Kind: DeleteRoom, Room: room, By: by})
	return err
}
