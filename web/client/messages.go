package client

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Message is a text to be sent. Text or Data must be set.
type Message struct {
	Room     string
	Key      string // identifies this message permanently; "": a random key is used
	Text     string
	Data     json.RawMessage // a JSON object that the application defines
	ReplyTo  int64           // the seq of another entry of the room; 0: none
	Mentions []string        // user ids

	MentionAll bool // mentions all members of the room; the user must be the owner or an admin
}

// Sent identifies the entry of a message. Dup means that the message had been sent before, with the same key.
type Sent struct {
	Seq int64
	ID  string
	At  time.Time
	Dup bool
}

// Send sends a message to a room. It repeats the command until it is answered; the message is sent once. A program that may send
// the same message again must set Key.
func (c *Client) Send(ctx context.Context, m Message) (Sent, error) {
	var reply wire.SendReply
	err := c.Call(ctx, "send", wire.SendRequest{
		Room: m.Room, Key: cmp.Or(m.Key, newKey()), Text: m.Text, Data: m.Data, ReplyTo: m.ReplyTo, Mentions: m.Mentions, MentionAll: m.MentionAll,
	}, &reply)
	if err != nil {
		return Sent{}, err
	}
	return Sent{Seq: reply.Seq, ID: reply.ID, At: model.TimeOf(reply.At), Dup: reply.Dup}, nil
}

// SayTyping tells the members of a room that the user is typing. It has no answer. While the client is offline, nothing
// is sent, now or later.
func (c *Client) SayTyping(ctx context.Context, room string) error {
	type typing struct {
		Typing wire.TypingRoom `json:"typing"`
	}
	data, err := wire.Marshal(typing{wire.TypingRoom{Room: room}})
	if err != nil {
		return err
	}
	c.mu.Lock()
	up, end, sdk := c.gone != nil, c.err, c.link.sdk
	c.mu.Unlock()
	if !up {
		return end
	}
	_ = sdk.Send(ctx, data) // an error means that the client is offline
	return ctx.Err()
}
