package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
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

// Request is a command as the client sent it: a method and its data. The data is decoded at most once.
type Request struct {
	method  string
	data    []byte
	command *command // nil: the method is unknown
	call    call     // nil: the data is not decoded, or invalid
	fault   error    // the error of decoding the data
}

// NewRequest returns a request without decoding its data. If the data is invalid, Commands.Answer returns the error.
func NewRequest(method string, data []byte) Request {
	return Request{method: method, data: data, command: commands[method]}
}

// Name returns the method's name for metrics. It is "unknown" for a method that does not exist.
func (r *Request) Name() string { return KnownMethod(r.method) }

// Overlaps reports whether the request may run concurrently with other requests of its connection. A request that may
// not starts when all earlier ones are answered.
func (r *Request) Overlaps() bool { return r.command != nil && r.command.overlaps }

// decode decodes the data, unless it is already decoded.
func (r *Request) decode() error {
	if r.call == nil && r.fault == nil {
		c := r.command.new()
		if r.fault = c.decode(r.data); r.fault == nil {
			r.call = c
		}
	}
	return r.fault
}

// Decode decodes a request's data into a request type. Its errors are those that Commands.Answer returns for invalid
// data.
func Decode(data []byte, into any) error {
	err := wire.Decode(data, into)
	if err == nil {
		return nil
	}
	var bad *wire.FieldError
	if errors.As(err, &bad) {
		return chat.BadField(bad.Field, bad.Reason)
	}
	return err
}

// call is a decoded request with its handler and space for its reply, in one allocation.
type call interface {
	decode(data []byte) error
	answer(ctx context.Context, a *Commands, c Caller) (reply any, err error)
}

// command describes one method.
type command struct {
	new      func() call
	overlaps bool
}

// ordered returns a command that starts only when all earlier commands of its connection are answered, because it
// changes data that later ones may read.
func ordered[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	return &command{new: func() call { return &typedCall[Request, Reply]{run: run} }}
}

// overlapping returns a command that may run concurrently with other commands of its connection.
func overlapping[Request, Reply any](run func(*Commands, context.Context, Caller, *Request) (Reply, error)) *command {
	c := ordered(run)
	c.overlaps = true
	return c
}

// typedCall implements call for one pair of request and reply types.
type typedCall[Request, Reply any] struct {
	run     func(*Commands, context.Context, Caller, *Request) (Reply, error)
	request Request
	reply   Reply
}

func (t *typedCall[Request, Reply]) decode(data []byte) error { return Decode(data, &t.request) }

func (t *typedCall[Request, Reply]) answer(ctx context.Context, a *Commands, c Caller) (reply any, err error) {
	t.reply, err = t.run(a, ctx, c, &t.request)
	return &t.reply, err
}

// MethodGrab is the name of the method grab. Transports handle it specially: a grab continues when its context ends.
const MethodGrab = "grab"

// commands holds every method that members may call, by name.
var commands = map[string]*command{
	"create_room": ordered((*Commands).createRoom),
	"direct":      ordered((*Commands).direct),
	"join":        ordered((*Commands).join),
	"leave":       ordered((*Commands).leave),
	"find_rooms":  overlapping((*Commands).findRooms),
	"members":     overlapping((*Commands).members),
	"presence":    overlapping((*Commands).presence),

	"invite":      ordered((*Commands).invite),
	"kick":        ordered((*Commands).kick),
	"unban":       ordered((*Commands).unban),
	"set_role":    ordered((*Commands).setRole),
	"mute":        ordered((*Commands).mute),
	"update_room": ordered((*Commands).updateRoom),
	"delete_room": ordered((*Commands).deleteRoom),

	"send":    ordered((*Commands).send),
	"edit":    ordered((*Commands).edit),
	"recall":  ordered((*Commands).recall),
	"react":   ordered((*Commands).react),
	"history": overlapping((*Commands).history),
	"read":    ordered((*Commands).read),

	"send_packet":   ordered((*Commands).sendPacket),
	MethodGrab:      {new: func() call { return new(grabCall) }, overlaps: true}, // it does not depend on earlier commands
	"packet":        overlapping((*Commands).packet),
	"cancel_packet": ordered((*Commands).cancelPacket),
	"packets":       overlapping((*Commands).listPackets),
	"wallet":        overlapping((*Commands).wallet),
}

// KnownMethod returns the method's name if the method exists, else "unknown". So clients cannot fill the memory of the
// metrics with invented names.
func KnownMethod(method string) string {
	if commands[method] == nil {
		return "unknown"
	}
	return method
}

// Methods returns the names of all methods, in no particular order.
func Methods() []string {
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	return names
}
