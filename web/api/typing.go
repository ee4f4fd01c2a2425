package api

import (
	"context"

	"hongbao/web/wire"
)

// Typing handles the message of a client that its user is typing in a room. It has no reply, and invalid data is
// ignored.
func (a *Commands) Typing(ctx context.Context, c Caller, data []byte) {
	var sent wire.TypingSend
	var in wire.TypingRoom
	if wire.Decode(data, &sent) != nil || wire.Decode(sent.Typing, &in) != nil {
		return
	}
	a.chat.Typing(ctx, c.User, in.Room)
}
