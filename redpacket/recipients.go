package redpacket

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"hongbao/chat"
)

// checkGrabbers checks the fields of the request that limit which users may grab.
func (r SendRequest) checkGrabbers(l Limits) error {
	switch {
	case len(r.To) > l.To:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "to", Reason: "must name at most " + strconv.Itoa(l.To)}
	case len(r.To) > 0 && r.Count > len(r.To):
		return chat.BadField("count", "must be at most the number of those who may grab")
	case r.Passphrase != "" && normal(r.Passphrase) == "":
		return chat.BadField("passphrase", "must not be only spaces")
	case strings.ContainsRune(r.Passphrase, 0):
		return chat.BadField("passphrase", "must not hold U+0000")
	case utf8.RuneCountInString(r.Passphrase) > l.PassphraseChars:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: "passphrase", Reason: "must have at most " + strconv.Itoa(l.PassphraseChars) + " characters"}
	}
	return nil
}

// checkRecipients checks that all recipients are members of the room. It checks the sender's own standing first: a
// user that may not see the room must not learn which users are in it.
func (s *Service) checkRecipients(ctx context.Context, from string, r SendRequest) error {
	if len(r.To) == 0 {
		return nil
	}
	sender, err := s.rooms.Standing(ctx, r.Room, from)
	if err != nil {
		return err
	}
	if err := sender.MaySend(s.o.Now()); err != nil {
		return err
	}
	for _, user := range r.To {
		in, err := s.isIn(ctx, r.Room, user)
		if err != nil {
			return err
		}
		if !in {
			return &chat.FieldError{Err: chat.ErrNotFound, Field: "to", Reason: "must name members only"}
		}
	}
	return nil
}

func (s *Service) isIn(ctx context.Context, room, user string) (bool, error) {
	if !chat.ValidUser(user) {
		return false, nil
	}
	standing, err := s.rooms.Standing(ctx, room, user)
	return standing.In, err
}

// eachOnce returns the users in their order, without repetitions.
func eachOnce(users []string) []string {
	seen := make(map[string]struct{}, len(users))
	var once []string
	for _, u := range users {
		if _, again := seen[u]; !again {
			seen[u] = struct{}{}
			once = append(once, u)
		}
	}
	return once
}
