package client

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"hongbao/web/wire"
)

// Message is a text on its way. Text or Data is needed.
type Message struct {
	Room     string
	Key      string // names this message for ever; "": one is drawn
	Text     string
	Data     json.RawMessage // an object that the host gives a meaning
	ReplyTo  int64           // a seq of the room; 0: none
	Mentions []string        // user ids
}

// Sent says which entry a message has become. Dup: it was there already.
type Sent struct {
	Seq int64
	ID  string
	At  time.Time
	Dup bool
}

// Send says something in a room, once.
func (c *Client) Send(ctx context.Context, m Message) (Sent, error) {
	var reply wire.SendReply
	err := c.Call(ctx, "send", wire.SendRequest{
		Room: m.Room, Key: cmp.Or(m.Key, newKey()), Text: m.Text, Data: m.Data, ReplyTo: m.ReplyTo, Mentions: m.Mentions,
	}, &reply)
	if err != nil {
		return Sent{}, err
	}
	return Sent{Seq: reply.Seq, ID: reply.ID, At: timeOf(reply.At), Dup: reply.Dup}, nil
}

// Edit changes one's own text, within two minutes.
func (c *Client) Edit(ctx context.Context, room string, seq int64, text string) error {
	return c.Call(ctx, "edit", wire.EditRequest{Room: room, Seq: seq, Text: text}, new(wire.SeqReply))
}

// Recall takes a text away: one's own within two minutes, as owner or admin any.
func (c *Client) Recall(ctx context.Context, room string, seq int64) error {
	return c.Call(ctx, "recall", wire.RecallRequest{Room: room, Seq: seq}, new(wire.SeqReply))
}

// React puts an emoji on a text, or takes one's own away.
func (c *Client) React(ctx context.Context, room string, seq int64, emoji string, on bool) error {
	return c.Call(ctx, "react", wire.ReactRequest{Room: room, Seq: seq, Emoji: emoji, On: on}, new(wire.ReactReply))
}

// MarkRead says how far one has read, and tells how much is left. It never goes back.
func (c *Client) MarkRead(ctx context.Context, room string, seq int64) (unread int64, err error) {
	var reply wire.ReadReply
	err = c.Call(ctx, "read", wire.ReadRequest{Room: room, Seq: seq}, &reply)
	return reply.Unread, err
}

// SayTyping tells a room that one is typing. There is no answer: while offline it tells nobody, and is not repeated.
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
	_ = sdk.Send(ctx, data) // it was offline after all
	return ctx.Err()
}
