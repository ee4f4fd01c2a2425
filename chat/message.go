package chat

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Message is a text to be sent.
type Message struct {
	Room string
	Key  string
	Text string

	Data     json.RawMessage // an object of the integrator, compact; nil: none
	ReplyTo  int64           // seq of an entry of the room; 0: no reply
	Mentions []string        // ids of users
}

func (m Message) check(l Limits) error {
	if err := CheckKey(m.Key); err != nil {
		return err
	}
	if err := checkID("room", m.Room); err != nil {
		return err
	}
	if m.Text == "" && m.Data == nil {
		return BadField("text", "is missing, and data too")
	}
	if err := checkOptional("text", m.Text, l.TextChars); err != nil {
		return err
	}
	if err := checkData(m.Data, l.DataBytes); err != nil {
		return err
	}
	if m.ReplyTo < 0 {
		return BadField("reply_to", "must be an entry of the room")
	}
	return checkMentions(m.Mentions, l.Mentions)
}

func checkData(data json.RawMessage, limit int) error {
	switch {
	case data == nil:
		return nil
	case len(data) > limit:
		return &FieldError{Err: ErrTooLong, Field: "data", Reason: fmt.Sprintf("must have at most %d bytes", limit)}
	case len(data) == 0 || data[0] != '{' || !json.Valid(data):
		return BadField("data", "must be an object")
	}
	return nil
}

func checkMentions(users []string, limit int) error {
	if len(users) > limit {
		return &FieldError{Err: ErrLimitExceeded, Field: "mentions", Reason: fmt.Sprintf("must be at most %d", limit)}
	}
	for _, user := range users {
		if err := checkID("mentions", user); err != nil {
			return err
		}
	}
	return nil
}

// hash returns the hash of the content, by which a repeated key is compared with its first use. A text without options
// hashes fewer fields: the hashes that old versions have stored must stay valid.
func (m Message) hash() []byte {
	fields := []string{m.Room, m.Text}
	if m.Data != nil || m.ReplyTo != 0 || len(m.Mentions) > 0 {
		fields = append(fields, string(m.Data), strconv.FormatInt(m.ReplyTo, 10))
		fields = append(fields, m.Mentions...)
	}
	return RequestHash("send", fields...)
}
