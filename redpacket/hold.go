package redpacket

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// A packet may keep shares for users that are away. Until Hold.Until each of these users gets the own share, and other users get the shares
// that are not held. After that, and for a user whose own share is gone, all free shares are alike. The seed says which shares are held, so
// nobody chooses what they are worth. The users are stored, and told to no client.

// Hold says which shares of a packet are held, for which users, and until when. The zero value holds none.
type Hold struct {
	Until time.Time // by the Pool's clock
	For   []Grant   // sorted by user
}

// Active reports whether shares are held at this time.
func (h Hold) Active(now time.Time) bool { return now.Before(h.Until) }

// ShareOf returns the share that is held for the user; -1: none.
func (h Hold) ShareOf(user string) int {
	if i, found := slices.BinarySearchFunc(h.For, user, func(g Grant, user string) int { return cmp.Compare(g.User, user) }); found {
		return h.For[i].Share
	}
	return -1
}

// Text returns for whom which share is held, as databases store it: a JSON list of [user, share], or "" if none is held.
func (h Hold) Text() string {
	if len(h.For) == 0 {
		return ""
	}
	rows := make([][2]any, len(h.For))
	for i, g := range h.For {
		rows[i] = [2]any{g.User, g.Share}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return "" // texts and numbers are always encoded
	}
	return string(text)
}

// ParseHold returns the hold of which Text has returned the text.
func ParseHold(text string, until time.Time) (h Hold, err error) {
	if text == "" {
		return h, nil
	}
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return h, fmt.Errorf("stored holds are no list: %w", err)
	}
	for _, row := range rows {
		var g Grant
		if err := json.Unmarshal(row, &[]any{&g.User, &g.Share}); err != nil {
			return h, fmt.Errorf("stored hold %s: %w", row, err)
		}
		h.For = append(h.For, g)
	}
	h.Until = until
	return h, nil
}

// sealed returns the hold with the shares that the seed says.
func (h Hold) sealed(seed Seed, p Packet) Hold {
	h.For = slices.Clone(h.For)
	for i, share := range proof.Held(seed, p.From.ID, p.Key, p.Count, len(h.For)) {
		h.For[i].Share = share
	}
	return h
}

// holds reports whether the request asks to hold shares.
func (r SendRequest) holds() bool { return len(r.HoldFor) > 0 || r.HoldAway }

// checkHold checks the fields of the request that hold shares.
func (r SendRequest) checkHold(l Limits) error {
	switch {
	case !r.holds() && r.HoldTime != 0:
		return chat.BadField("hold_s", "is only for a packet with hold_for or hold_away")
	case !r.holds():
		return nil
	case r.isDraw():
		return chat.BadField("hold_"+map[bool]string{true: "away", false: "for"}[r.HoldAway], "is not for a draw: all users that enter it in time are equally likely to win")
	case r.HoldAway && len(r.HoldFor) > 0:
		return chat.BadField("hold_away", "cannot be combined with hold_for")
	case len(r.HoldFor) > l.To:
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "hold_for", Reason: "must name at most " + strconv.Itoa(l.To)}
	case len(r.HoldFor) > r.Count:
		return chat.BadField("hold_for", "must name at most as many users as there are shares")
	case len(r.To) > 0 && slices.ContainsFunc(r.HoldFor, func(user string) bool { return !slices.Contains(r.To, user) }):
		return chat.BadField("hold_for", "must name users in to only")
	case r.HoldTime <= 0:
		return chat.BadField("hold_s", "must be at least 1s")
	case r.HoldTime > r.TTL:
		return chat.BadField("hold_s", "must be at most the time until the deadline")
	}
	return nil
}

// hashHold returns what the hash of a request says of the shares to hold.
func (r SendRequest) hashHold() string {
	if !r.holds() {
		return ""
	}
	return " that holds shares for " + strconv.FormatBool(r.HoldAway) + " " + strings.Join(r.HoldFor, " ") + " for " + r.HoldTime.String()
}

// holdOf returns the hold of a packet that opens then, without the shares. Nothing is held if nobody is away.
func (s *Service) holdOf(ctx context.Context, from string, r SendRequest, opens time.Time) (Hold, error) {
	users := r.HoldFor
	if r.HoldAway {
		away, err := s.rooms.Away(ctx, r.Room, from)
		if err != nil {
			return Hold{}, err
		}
		users = away[:0]
		for _, user := range away {
			if len(r.To) == 0 || slices.Contains(r.To, user) {
				users = append(users, user)
			}
		}
		users = users[:min(len(users), r.Count, s.o.Limits.To)]
	}
	if len(users) == 0 {
		return Hold{}, nil
	}
	h := Hold{Until: opens.Add(r.HoldTime)}
	for _, user := range slices.Sorted(slices.Values(users)) {
		h.For = append(h.For, Grant{User: user})
	}
	return h, nil
}
