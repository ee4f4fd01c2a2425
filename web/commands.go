package web

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/web/wire"
)

// Caller is who asks.
type Caller struct {
	User  chat.User
	Admin bool

	early func(reply []byte) bool // answers the command while it goes on; false: it did not. nil: there is no way to
}

// command is one method: it decodes the request, calls the service and makes the reply's data.
type command interface {
	call(ctx context.Context, s *Server, c Caller, data []byte) ([]byte, error)
	overlaps() bool
}

// commands holds every method that members may call.
var commands = map[string]command{
	"create_room": changing((*Server).createRoom),
	"direct":      changing((*Server).direct),
	"join":        changing((*Server).join),
	"leave":       changing((*Server).leave),
	"find_rooms":  reading((*Server).findRooms),
	"members":     reading((*Server).members),
	"presence":    reading((*Server).presence),

	"invite":      changing((*Server).invite),
	"kick":        changing((*Server).kick),
	"unban":       changing((*Server).unban),
	"set_role":    changing((*Server).setRole),
	"mute":        changing((*Server).mute),
	"update_room": changing((*Server).updateRoom),
	"delete_room": changing((*Server).deleteRoom),

	"send":    changing((*Server).send),
	"edit":    changing((*Server).edit),
	"recall":  changing((*Server).recall),
	"react":   changing((*Server).react),
	"history": reading((*Server).history),
	"read":    changing((*Server).read),

	"send_packet":   changing((*Server).sendPacket),
	"grab":          reading((*Server).grab), // it changes much, but waits for nothing that came before
	"packet":        reading((*Server).packet),
	"cancel_packet": changing((*Server).cancelPacket),
	"packets":       reading((*Server).listPackets),
	"wallet":        reading((*Server).wallet),
}

// adminCommands holds what only administrators may call, and only over HTTP.
var adminCommands = map[string]command{
	"credit":     changing((*Server).credit),
	"debit":      changing((*Server).debit),
	"audit":      reading((*Server).audit),
	"disconnect": changing((*Server).disconnect),
	"stats":      reading((*Server).stats),
}

// Call answers one command of a member. The reply is the JSON of the reply's data.
func (s *Server) Call(ctx context.Context, c Caller, method string, data []byte) (reply []byte, err error) {
	cmd, ok := commands[method]
	if !ok {
		return nil, errUnknownCommand
	}
	if err := s.rates.spend(ctx, c.User.ID, method); err != nil {
		return nil, err
	}
	return cmd.call(ctx, s, c, data)
}

// callAdmin answers one command of an administrator.
func (s *Server) callAdmin(ctx context.Context, c Caller, method string, data []byte) (reply []byte, err error) {
	cmd, ok := adminCommands[method]
	switch {
	case !c.Admin:
		return nil, chat.ErrForbidden
	case !ok:
		return nil, errUnknownCommand
	}
	return cmd.call(ctx, s, c, data)
}

// overlaps tells whether a command may run while others of its connection do. All others start in the
// order sent, each when those before it have been answered.
func overlaps(method string) bool {
	cmd, ok := commands[method]
	return ok && cmd.overlaps()
}

// handler is the command of a request and a reply type.
type handler[Request, Reply any] struct {
	run     func(s *Server, ctx context.Context, c Caller, r *Request) (Reply, error)
	overlap bool
}

func changing[Request, Reply any](run func(*Server, context.Context, Caller, *Request) (Reply, error)) command {
	return handler[Request, Reply]{run: run}
}

func reading[Request, Reply any](run func(*Server, context.Context, Caller, *Request) (Reply, error)) command {
	return handler[Request, Reply]{run: run, overlap: true}
}

func (h handler[Request, Reply]) overlaps() bool { return h.overlap }

func (h handler[Request, Reply]) call(ctx context.Context, s *Server, c Caller, data []byte) ([]byte, error) {
	var request Request
	if err := wire.Decode(data, &request); err != nil {
		var bad *wire.FieldError
		if errors.As(err, &bad) {
			return nil, chat.BadField(bad.Field, bad.Reason)
		}
		return nil, err
	}
	reply, err := h.run(s, ctx, c, &request)
	if err != nil {
		return nil, err
	}
	return wire.Marshal(reply)
}
