package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"hongbao/chat"
)

// The types of lines.
const (
	userType   = "user"
	roomType   = "room"
	textType   = "text"
	memberType = "member"
)

// LineBytes is the length of the longest line.
const LineBytes = 1 << 20

// User describes a user. An import creates the user, or changes what the line has.
type User struct {
	Type   string          `json:"type"` // "user"
	ID     string          `json:"id"`   // the id of the user's tokens
	Name   string          `json:"name,omitempty"`
	Avatar string          `json:"avatar,omitempty"`
	Ref    string          `json:"ref,omitempty"`    // the host's own id
	Custom json.RawMessage `json:"custom,omitempty"` // an object for the host
}

// Room describes a room.
type Room struct {
	Type         string        `json:"type"` // "room"
	ID           string        `json:"id"`   // names the room in the archive
	Ref          string        `json:"ref,omitempty"`
	Name         string        `json:"name,omitempty"`
	Kind         chat.RoomKind `json:"kind,omitempty"`  // empty: private
	Owner        string        `json:"owner,omitempty"` // not of a direct room
	Users        []string      `json:"users,omitempty"` // the two users of a direct room
	At           int64         `json:"at,omitempty"`    // Unix milliseconds; 0: now
	Announcement string        `json:"announcement,omitempty"`
}

// Text is a message. Its lines come in the order of the room.
type Text struct {
	Type    string `json:"type"` // "text"
	Room    string `json:"room"`
	ID      string `json:"id"`             // names the text in its room
	From    string `json:"from"`           // id of the author
	Name    string `json:"name,omitempty"` // of the author at that time; empty: as the user has it
	At      int64  `json:"at"`             // Unix milliseconds
	Text    string `json:"text,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"` // id of the text that it answers

	Data       json.RawMessage     `json:"data,omitempty"`
	Mentions   []string            `json:"mentions,omitempty"`
	MentionAll bool                `json:"mention_all,omitempty"`
	Preview    *chat.Preview       `json:"preview,omitempty"`
	Files      []File              `json:"files,omitempty"`
	Reactions  map[string][]string `json:"reactions,omitempty"` // users by emoji
	EditedAt   int64               `json:"edited_at,omitempty"` // Unix milliseconds; an import does not use it
}

// File is a file of a text.
type File struct {
	Path       string        `json:"path"`           // of the content, below the folder of the archive, with slashes
	Kind       chat.FileKind `json:"kind,omitempty"` // empty: file
	Name       string        `json:"name,omitempty"`
	Type       string        `json:"type,omitempty"`
	DurationMS int64         `json:"duration_ms,omitempty"`
	Wave       string        `json:"wave,omitempty"`
}

// Member says that a user is in a room.
type Member struct {
	Type string    `json:"type"` // "member"
	Room string    `json:"room"`
	User string    `json:"user"`
	Role chat.Role `json:"role,omitempty"` // admin; otherwise the member is a plain one, or the owner that its room names
}

// parse returns the User, Room, Text or Member of a line.
func parse(line []byte) (any, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("is no JSON object: %w", err)
	}
	switch head.Type {
	case userType:
		return parseAs[User](line)
	case roomType:
		return parseAs[Room](line)
	case textType:
		return parseAs[Text](line)
	case memberType:
		return parseAs[Member](line)
	}
	return nil, fmt.Errorf("type is %q: want user, room, text or member", head.Type)
}

func parseAs[T any](line []byte) (any, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err
}

// Writer writes the lines of an archive.
type Writer struct{ to *json.Encoder }

// NewWriter returns a Writer.
func NewWriter(to io.Writer) *Writer {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return &Writer{e}
}

// User writes a line, as Room, Text and Member do. They set its type.
func (w *Writer) User(u User) error { u.Type = userType; return w.to.Encode(u) }

// Room writes a line.
func (w *Writer) Room(r Room) error { r.Type = roomType; return w.to.Encode(r) }

// Text writes a line.
func (w *Writer) Text(t Text) error { t.Type = textType; return w.to.Encode(t) }

// Member writes a line.
func (w *Writer) Member(m Member) error { m.Type = memberType; return w.to.Encode(m) }
