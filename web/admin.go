package web

import (
	"context"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// adminCommand is the function that runs one command of an administrator.
type adminCommand func(s *Server, ctx context.Context, c api.Caller, data []byte) (reply any, err error)

// adminCommands holds, by method, the commands that only administrators may call. They exist over HTTP only.
var adminCommands = map[string]adminCommand{
	"credit":     admin((*Server).credit),
	"debit":      admin((*Server).debit),
	"audit":      admin((*Server).audit),
	"heads":      admin((*Server).heads),
	"disconnect": admin((*Server).disconnect),
	"stats":      admin((*Server).stats),
}

func admin[Request, Reply any](run func(*Server, context.Context, api.Caller, *Request) (Reply, error)) adminCommand {
	return func(s *Server, ctx context.Context, c api.Caller, data []byte) (any, error) {
		var request Request
		if err := api.Decode(data, &request); err != nil {
			return nil, err
		}
		return run(s, ctx, c, &request)
	}
}

// callAdmin runs one command of an administrator. It returns the data of the reply, as JSON.
func (s *Server) callAdmin(ctx context.Context, c api.Caller, method string, data []byte) (reply []byte, err error) {
	command, ok := adminCommands[method]
	switch {
	case !c.Admin:
		return nil, chat.ErrForbidden
	case !ok:
		return nil, api.ErrUnknownCommand
	}
	return encode(command(s, ctx, c, data))
}

func (s *Server) credit(ctx context.Context, c api.Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, +1)
}

func (s *Server) debit(ctx context.Context, c api.Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, -1)
}

// adjust adds the amount to the user's wallet (sign 1) or takes it out (sign -1).
func (s *Server) adjust(ctx context.Context, c api.Caller, r *wire.AdjustRequest, sign int64) (wire.AdjustReply, error) {
	account, dup, err := s.packets.Adjust(ctx, redpacket.AdjustRequest{
		User: r.User, Amount: redpacket.Money(sign * r.Amount), Key: r.Key, Note: r.Note,
		Actor: c.User.ID, RequestID: r.RequestID, Reason: r.Reason,
	})
	return wire.AdjustReply{Balance: int64(account.Balance), AccountVersion: account.Version, Dup: dup}, err
}

func (s *Server) audit(ctx context.Context, _ api.Caller, _ *struct{}) (wire.AuditReply, error) {
	a, err := s.packets.Audit(ctx)
	return convert.Audit(a), err
}

func (s *Server) heads(ctx context.Context, _ api.Caller, _ *struct{}) (wire.HeadsReply, error) {
	heads, err := s.packets.Heads(ctx)
	return convert.Heads(heads), err
}

// disconnect revokes the user's tokens and then closes the user's sockets, in this order: a client cannot reconnect
// with a revoked token.
func (s *Server) disconnect(ctx context.Context, _ api.Caller, r *wire.DisconnectRequest) (wire.DisconnectReply, error) {
	if err := s.chat.Revoke(ctx, r.User); err != nil {
		return wire.DisconnectReply{}, err
	}
	s.Disconnect(r.User)
	return wire.DisconnectReply{}, nil
}

// stats returns figures of this instance only, not of all instances.
func (s *Server) stats(context.Context, api.Caller, *struct{}) (wire.StatsReply, error) {
	h, p := s.hub.Stats(), s.packets.Stats()
	closes := make(map[int]int64, len(h.Closes))
	for code, n := range h.Closes {
		closes[code] = int64(n)
	}
	return wire.StatsReply{
		Instance: s.pub.Node(), Version: s.o.Version, StartedAt: s.started.UnixMilli(), Draining: s.draining.Load(),
		Connections: h.Connections, Users: s.sessions.Users(), Topics: h.Topics, QueuedBytes: h.QueuedBytes,
		Delivered: int64(h.Delivered), Shed: int64(h.Shed), GapRepairs: int64(h.GapRepairs), BusDown: h.BusDown,
		Closes: closes,
		Grabs:  wire.GrabStats{Won: p.Won, Already: p.Already, Empty: p.Empty, Expired: p.Expired, Pending: p.Pending, Failed: p.Failed},
	}, nil
}
