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
