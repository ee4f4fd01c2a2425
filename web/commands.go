package web

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Caller is who asks.
type Caller struct {
	User  chat.User
	Admin bool

	waiter redpacket.Waiter // is told when a grab takes long; nil: there is no way to
}

// command is one method.
type command interface {
	read(data []byte) (asked, error)
	overlaps() bool
}

// asked is a command whose request has been read.
type asked interface {
	// answer calls the service and makes the reply, which is for wire to encode. It is called once.
	answer(ctx context.Context, s *Server, c Caller) (reply any, err error)
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
	return encode(s.answer(ctx, c, method, data, nil))
}

// answer answers one command of a member; known, if not nil, is what data has been read as.
func (s *Server) answer(ctx context.Context, c Caller, method string, data []byte, known asked) (reply any, err error) {
	cmd, ok := commands[method]
	if !ok {
		return nil, errUnknownCommand
	}
	if err := s.rates.spend(ctx, c.User.ID, method); err != nil {
		return nil, err
	}
	if known != nil {
		return known.answer(ctx, s, c)
	}
	return s.run(ctx, c, cmd, data)
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
	return encode(s.run(ctx, c, cmd, data))
}

func (s *Server) run(ctx context.Context, c Caller, cmd command, data []byte) (reply any, err error) {
	request, err := cmd.read(data)
	if err != nil {
		return nil, err
	}
	return request.answer(ctx, s, c)
}

func encode(reply any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return wire.Marshal(reply)
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

func (h handler[Request, Reply]) read(data []byte) (asked, error) {
	x := &exchange[Request, Reply]{run: h.run}
	if err := wire.Decode(data, &x.request); err != nil {
		var bad *wire.FieldError
		if errors.As(err, &bad) {
			return nil, chat.BadField(bad.Field, bad.Reason)
		}
		return nil, err
	}
	return x, nil
}

// exchange is a request and its reply, in one allocation.
type exchange[Request, Reply any] struct {
	run     func(s *Server, ctx context.Context, c Caller, r *Request) (Reply, error)
	request Request
	reply   Reply
}

func (x *exchange[Request, Reply]) answer(ctx context.Context, s *Server, c Caller) (reply any, err error) {
	x.reply, err = x.run(s, ctx, c, &x.request)
	return &x.reply, err
}
