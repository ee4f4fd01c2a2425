package chat

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits are the largest sizes and numbers that are accepted, and the EditWindow. Lengths of texts are in code points.
type Limits struct {
	TextChars         int
	DataBytes         int // of Message.Data
	NameChars         int
	AnnouncementChars int
	EmojiChars        int
	Mentions          int // in one message
	Files             int // of one message
	InviteUsers       int // in one request
	RoomMembers       int
	Rooms             int           // rooms that a user may choose; others may add the user to as many more, to 2 × Rooms in all
	PublicRooms       int           // public rooms that a user may own after creating one; only chosen rooms count
	Blocks            int           // users that a user may block
	EditWindow        time.Duration // how long users may edit and recall their own texts; see Amendment.Window
}

// DefaultLimits returns the limits of web/docs/protocol/limits.md.
func DefaultLimits() Limits {
	return Limits{
		TextChars: 4000, DataBytes: 4096, NameChars: 64, AnnouncementChars: 1000, EmojiChars: 16, Mentions: 50, Files: 10,
		InviteUsers: 100, RoomMembers: 100_000, Rooms: 500, PublicRooms: 50, Blocks: 1000, EditWindow: 2 * time.Minute,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		TextChars:         cmp.Or(l.TextChars, d.TextChars),
		DataBytes:         cmp.Or(l.DataBytes, d.DataBytes),
		NameChars:         cmp.Or(l.NameChars, d.NameChars),
		AnnouncementChars: cmp.Or(l.AnnouncementChars, d.AnnouncementChars),
		EmojiChars:        cmp.Or(l.EmojiChars, d.EmojiChars),
		Mentions:          cmp.Or(l.Mentions, d.Mentions),
		Files:             cmp.Or(l.Files, d.Files),
		InviteUsers:       cmp.Or(l.InviteUsers, d.InviteUsers),
		RoomMembers:       cmp.Or(l.RoomMembers, d.RoomMembers),
		Rooms:             cmp.Or(l.Rooms, d.Rooms),
		PublicRooms:       cmp.Or(l.PublicRooms, d.PublicRooms),
		Blocks:            cmp.Or(l.Blocks, d.Blocks),
		EditWindow:        cmp.Or(l.EditWindow, d.EditWindow),
	}
}

const (
	pageDefault = 50
	pageMax     = 100
	// pageBytes bounds the bodies of a page of entries. With the names, avatars and keys of pageMax entries, a reply
	// stays under 1 MiB.
	pageBytes = 512 << 10
)

func pageLimit(limit int) (int, error) {
	if limit < 0 {
		return 0, BadField("limit", "must not be negative")
	}
	return min(cmp.Or(limit, pageDefault), pageMax), nil
}

const idChars = 64

func checkID(field, id string) error {
	if id == "" || utf8.RuneCountInString(id) > idChars {
		return BadField(field, fmt.Sprintf("must have 1 to %d characters", idChars))
	}
	return checkNUL(field, id)
}

const userChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:@-"

// ValidUser reports whether id can be the id of a user: 1 to 64 of A-Za-z0-9_.:@-
func ValidUser(id string) bool {
	return id != "" && len(id) <= idChars && strings.Trim(id, userChars) == ""
}

// checkText returns an error if the text is empty, longer than the limit, or has U+0000.
func checkText(field, text string, limit int) error {
	if text == "" {
		return BadField(field, "is missing")
	}
	return checkOptional(field, text, limit)
}

func checkOptional(field, text string, limit int) error {
	if utf8.RuneCountInString(text) > limit {
		return tooLong(field, limit)
	}
	return checkNUL(field, text)
}

func tooLong(field string, limit int) error {
	return &FieldError{Err: ErrTooLong, Field: field, Reason: fmt.Sprintf("must have at most %d characters", limit)}
}

// checkNUL returns an error if the text has U+0000, which not every engine can store.
func checkNUL(field, text string) error {
	if strings.ContainsRune(text, 0) {
		return BadField(field, "must not hold U+0000")
	}
	return nil
}

// Limiter limits rates. It depends on the engine whether it counts for one instance or for all instances together.
type Limiter interface {
	// Take spends r.Tokens() tokens of the key. If there are fewer, it spends nothing and returns how long to wait for them.
	Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
}

// Rate is a bucket of Burst tokens that fills at PerSecond.
type Rate struct {
	PerSecond float64
	Burst     int
	Cost      int // tokens that one Take spends, at most Burst; 0: one
}

// Tokens returns how many tokens one Take spends.
func (r Rate) Tokens() int { return min(max(r.Cost, 1), r.Burst) }
