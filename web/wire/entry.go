package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Entry is one element in the numbered log of a room.
type Entry struct {
	Seq  int64           `json:"seq"`
	ID   string          `json:"id"`
	At   int64           `json:"at"`
	From User            `json:"from"`
	Kind string          `json:"kind"`
	Key  string          `json:"key,omitempty"`
	Body json.RawMessage `json:"body"`
}

// EntryJSON encodes an entry. The result equals that of json.Marshal, except for escapes that JSON does not require.
// It is written by hand, with one allocation, because every entry is encoded here for its members.
func EntryJSON(e Entry) []byte {
	body := oneLine(e.Body)
	b := make([]byte, 0, 128+len(e.ID)+len(e.From.ID)+len(e.From.Name)+len(e.From.Avatar)+len(e.Key)+len(body))
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = appendString(append(b, `,"id":`...), e.ID)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, e.At, 10)
	b = appendString(append(b, `,"from":{"id":`...), e.From.ID)
	b = appendString(append(b, `,"name":`...), e.From.Name)
	if e.From.Avatar != "" {
		b = appendString(append(b, `,"avatar":`...), e.From.Avatar)
	}
	b = appendString(append(b, `},"kind":`...), e.Kind)
	if e.Key != "" {
		b = appendString(append(b, `,"key":`...), e.Key)
	}
	b = append(b, `,"body":`...)
	b = append(b, body...)
	return append(b, '}')
}

// oneLine removes the newlines between the parts of a JSON document. Newlines inside strings are escapes and remain.
func oneLine(doc []byte) []byte {
	if len(doc) == 0 {
		return []byte("null")
	}
	if bytes.IndexByte(doc, '\n') < 0 {
		return doc
	}
	return bytes.ReplaceAll(doc, []byte("\n"), nil)
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(append(b, s[from:i]...), "\ufffd"...)
			from = i + 1
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}

// TextBody is the body of a text entry. EditedAt and Reactions are set only when it is read from history. A recalled
// text has no field but Recalled.
type TextBody struct {
	Text      string          `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ReplyTo   int64           `json:"reply_to,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	EditedAt  int64           `json:"edited_at,omitempty"`
	Reactions map[string]int  `json:"reactions,omitempty"` // number of users by emoji
	Recalled  bool            `json:"recalled,omitempty"`
}

// PacketDoneBody is the body of a packet_done entry. Its State has no Mine. (The body of a packet entry is a Packet.)
type PacketDoneBody struct {
	Packet string `json:"packet"`
	Reason string `json:"reason" enum:"drained,expired,cancelled"`
	State  State  `json:"state"`
	Seed   string `json:"seed"` // hex
}

// MemberBody is the body of a member entry.
type MemberBody struct {
	User   string `json:"user"`
	Change string `json:"change" enum:"invited,kicked,banned,role,muted,left_private"`
	By     string `json:"by"`
	Role   string `json:"role,omitempty" enum:"owner,admin,member"`
	Until  int64  `json:"until,omitempty"`
}

// EditBody is the body of an edit entry. Text is missing if the text was recalled later.
type EditBody struct {
	Target   int64  `json:"target"`
	Text     string `json:"text,omitempty"`
	Recalled bool   `json:"recalled,omitempty"`
}

// RecallBody is the body of a recall entry.
type RecallBody struct {
	Target int64 `json:"target"`
}

// ReactBody is the body of a react entry. Count is the number of users with this emoji on the text, after this change.
type ReactBody struct {
	Target int64  `json:"target"`
	Emoji  string `json:"emoji"`
	On     bool   `json:"on"`
	Count  int    `json:"count"`
}

// RoomBody is the body of a room entry and holds the new values. An empty announcement removes the old one.
type RoomBody struct {
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
}
