package chat

import (
	"context"
	"time"
)

// Direct gives the room of two people.
func (s *Service) Direct(ctx context.Context, u User, other string) (Membership, error) {
	return Membership{}, ErrUnavailable
}

// Invite puts users into a room.
func (s *Service) Invite(ctx context.Context, by User, room string, users []string) error {
	return ErrUnavailable
}

// Kick puts a user out of a room; banned, he cannot come back.
func (s *Service) Kick(ctx context.Context, by User, room, user string, ban bool) error {
	return ErrUnavailable
}

// Unban lets a user come back.
func (s *Service) Unban(ctx context.Context, by User, room, user string) error { return ErrUnavailable }

// SetRole gives a member another role; to make him the owner hands the room over.
func (s *Service) SetRole(ctx context.Context, by User, room, user string, r Role) error {
	return ErrUnavailable
}

// Mute keeps a member from writing for so many seconds; 0 lifts it.
func (s *Service) Mute(ctx context.Context, by User, room, user string, seconds int64) error {
	return ErrUnavailable
}

// UpdateRoom changes a room's name or announcement.
func (s *Service) UpdateRoom(ctx context.Context, by User, room string, to RoomChange) (Membership, error) {
	return Membership{}, ErrUnavailable
}

// DeleteRoom puts everybody out of a room for good.
func (s *Service) DeleteRoom(ctx context.Context, by User, room string) error { return ErrUnavailable }

// Edit gives one's own text another wording, and gives the seq of the entry that says so.
func (s *Service) Edit(ctx context.Context, by User, room string, seq int64, text string) (int64, error) {
	return 0, ErrUnavailable
}

// Recall takes a text back, and gives the seq of the entry that says so.
func (s *Service) Recall(ctx context.Context, by User, room string, seq int64) (int64, error) {
	return 0, ErrUnavailable
}

// React puts an emoji on a text, or takes it off.
func (s *Service) React(ctx context.Context, by User, room string, seq int64, emoji string, on bool) error {
	return ErrUnavailable
}

// Typing tells a room that the user is writing. It says nothing of what keeps it from that.
func (s *Service) Typing(ctx context.Context, by User, room string) {}

// Online tells how many of a room's members have a socket, and in small rooms who.
func (s *Service) Online(ctx context.Context, user, room string) (count int, users []string, err error) {
	return 0, nil, ErrUnavailable
}

// MembersOnline tells which of the users have a socket.
func (s *Service) MembersOnline(ctx context.Context, users []string) ([]bool, error) {
	return nil, ErrUnavailable
}

// CameOrWent tells the user's small rooms that he has come online, or gone.
func (s *Service) CameOrWent(ctx context.Context, user string, online bool) error {
	return ErrUnavailable
}

// Admit is SignIn with a token issued then; the zero time: it does not say. ErrRevoked: it is refused.
func (s *Service) Admit(ctx context.Context, u User, issued time.Time) error {
	return s.SignIn(ctx, u)
}

// Revoke refuses all tokens of the user that have been issued until now.
func (s *Service) Revoke(ctx context.Context, user string) error { return ErrUnavailable }
