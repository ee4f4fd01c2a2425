package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"hongbao/chat"
	"hongbao/redpacket"
)

// ErrUnknownCommand is returned for a request whose method does not exist.
var ErrUnknownCommand = errors.New("unknown command")

// Caller is the user that calls a command.
type Caller struct {
	User  chat.User
	Admin bool

	Pending *redpacket.PendingGrab // lets the grab be answered before its commit; nil: the caller waits for the commit
}

// Config holds the services and callbacks that Commands uses. Every field except Log must be set.
type Config struct {
	Chat      *chat.Service
	Packets   *redpacket.Service
	Rates     *Rates
	Connected func(user string) bool // reports whether the user has a socket on this instance
	Log       *slog.Logger
}

// Commands runs the commands that members may call.
type Commands struct {
	chat      *chat.Service
	packets   *redpacket.Service
	rates     *Rates
	connected func(user string) bool
	log       *slog.Logger
}

// New returns Commands that use the services of the Config.
func New(c Config) *Commands {
	return &Commands{chat: c.Chat, packets: c.Packets, rates: c.Rates, connected: c.Connected, log: cmp.Or(c.Log, slog.Default())}
}

// Answer runs a request and returns the reply, which package wire encodes. Call it once per request.
func (a *Commands) Answer(ctx context.Context, c Caller, r *Request) (reply any, err error) {
	if r.command == nil {
		return nil, ErrUnknownCommand
	}
	if err := a.rates.spend(ctx, c.User.ID, r.method); err != nil {
		return nil, err
	}
	if err := r.decode(); err != nil {
		return nil, err
	}
	return r.call.answer(ctx, a, c)
}
