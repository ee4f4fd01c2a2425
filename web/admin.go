package web

import (
	"context"
	"net/http"
	"sync"
	"time"

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
	"credit":      admin((*Server).credit),
	"debit":       admin((*Server).debit),
	"audit":       admin((*Server).audit),
	"start_audit": admin((*Server).startAudit),
	"heads":       admin((*Server).heads),
	"disconnect":  admin((*Server).disconnect),
	"stats":       admin((*Server).stats),
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

// Security records what an operator must be able to read after an attack. security.Recorder implements it.
type Security interface {
	// Count counts one event of a kind. origin is an address, or the ID of an administrator.
	Count(kind, origin string)
	// Act stores a request of an administrator before it is carried out. If Act fails, the request must not be carried out.
	Act(ctx context.Context, actor, client, method string, request []byte) error
	// Totals returns the counts by kind and the number of acts, both since the start.
	Totals() (kinds map[string]int64, acts int64)
}

// Kinds of counts.
const (
	CountUnauthorized = "unauthorized" // requests without a valid token; by address
	CountNotAdmin     = "not_admin"    // calls of admin endpoints by others than administrators; by address
	CountAdminRead    = "admin_read"   // calls of admin endpoints that only read; by administrator
)

// refuseAdmin counts and logs a call of an admin endpoint by another caller than an administrator, and returns its error. The call
// counts against the rates of the caller, as commands do.
func (s *Server) refuseAdmin(ctx context.Context, r *http.Request, c api.Caller, method string) error {
	client := s.proxies.client(r)
	s.o.Security.Count(CountNotAdmin, subnet(client))
	if unlogged, due := s.notAdmin.next(s.o.Now()); due {
		s.o.Log.Warn("call of an admin endpoint refused", "user", c.User.ID, "client", client, "method", method, "refused_since_last_line", unlogged)
	}
	if err := s.rates.SpendHTTP(ctx, c.User.ID); err != nil {
		return err
	}
	if c.Address != "" {
		if err := s.rates.SpendFrame(ctx, c.Address); err != nil {
			return err
		}
	}
	return chat.ErrForbidden
}

// logEvery is the least time between two log lines of one kind that strangers cause.
const logEvery = time.Minute

// rareLines limits the log lines of one kind. The zero value is ready for use.
type rareLines struct {
	mu       sync.Mutex
	last     time.Time // guarded by mu; of the last line; zero: there was none
	unlogged int       // guarded by mu; events since the last line
}

// next counts an event. It reports whether the event may be logged, and if so, how many were not since the last line.
func (l *rareLines) next(now time.Time) (unlogged int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.last.IsZero() && now.Sub(l.last).Abs() < logEvery { // Abs: the clock may have stepped back
		l.unlogged++
		return 0, false
	}
	unlogged, l.last, l.unlogged = l.unlogged, now, 0
	return unlogged, true
}

// recordAdmin counts an administrator's call that only reads (GET), and stores any other. If it fails, the call must not be
// carried out.
func (s *Server) recordAdmin(ctx context.Context, r *http.Request, c api.Caller, method string, data []byte) error {
	if r.Method == http.MethodGet {
		s.o.Security.Count(CountAdminRead, c.User.ID)
		return nil
	}
	return s.o.Security.Act(ctx, c.User.ID, s.proxies.client(r).String(), method, data)
}

// noSecurity records nothing.
type noSecurity struct{}

func (noSecurity) Count(string, string)                                      {}
func (noSecurity) Act(context.Context, string, string, string, []byte) error { return nil }
func (noSecurity) Totals() (map[string]int64, int64)                         { return nil, 0 }

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
	a, err := s.packets.LastAudit(ctx)
	return convert.Audit(a), err
}

func (s *Server) startAudit(ctx context.Context, _ api.Caller, r *wire.StartAuditRequest) (wire.StartAuditReply, error) {
	at, err := s.packets.AskAudit(ctx, r.Whole)
	return wire.StartAuditReply{At: convert.Millis(at)}, err
}

func (s *Server) heads(ctx context.Context, _ api.Caller, _ *struct{}) (wire.HeadsReply, error) {
	heads, err := s.packets.Heads(ctx)
	return convert.Heads(heads), err
}

func (s *Server) disconnect(ctx context.Context, _ api.Caller, r *wire.DisconnectRequest) (wire.DisconnectReply, error) {
	return s.revoke(ctx, r.User)
}

// revoke revokes the user's tokens and then closes the user's sockets, in this order: a client cannot reconnect
// with a revoked token.
func (s *Server) revoke(ctx context.Context, user string) (wire.DisconnectReply, error) {
	if err := s.chat.Revoke(ctx, user); err != nil {
		return wire.DisconnectReply{}, err
	}
	s.Disconnect(user)
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
