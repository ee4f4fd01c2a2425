package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// adminCommand is the function that runs one command of an administrator.
type adminCommand func(s *Server, ctx context.Context, c api.Caller, data []byte) (reply any, err error)

// adminCommands holds, by method, the commands that only administrators may call. They exist over HTTP only.
var adminCommands = map[string]adminCommand{
	"credit":      admin((*Server).adminCredit),
	"debit":       admin((*Server).adminDebit),
	"audit":       admin((*Server).adminAudit),
	"start_audit": admin((*Server).adminStartAudit),
	"heads":       admin((*Server).adminHeads),
	"disconnect":  admin((*Server).adminDisconnect),
	"stats":       admin((*Server).adminStats),
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
	// Count counts one event of a kind. origin is an IPv4 address, the /64 of an IPv6 address, or the ID of an administrator.
	Count(kind, origin string)
	// Act stores a request of an administrator that may change something, before it is carried out. If Act fails, the request
	// must not be carried out.
	Act(ctx context.Context, actor, client, method string, request []byte) error
	// Totals returns the counts by kind and the number of acts, both since the start.
	Totals() (kinds map[string]int64, acts int64)
}

// Kinds of counts, for Security.Count.
const (
	// CountUnauthorized counts requests and connects that are refused because of their token: it is missing, invalid or revoked,
	// or its user is suspended. A token that has only expired is not counted. origin is the address.
	CountUnauthorized = "unauthorized"
	CountNotAdmin     = "not_admin"  // calls of admin endpoints by callers that are not administrators; origin is the address
	CountAdminRead    = "admin_read" // calls of admin endpoints that only read; origin is the administrator
)

// refuseAdmin counts a call of an admin endpoint by a caller that is not an administrator. It logs the call, unless another such
// call was logged less than logEvery ago. It returns the error for the caller. The call counts against the caller's rates, as
// commands do.
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
	last     time.Time // guarded by mu; time of the last line; zero: there was none
	unlogged int       // guarded by mu; events since the last line
}

// next counts an event and reports whether the caller may log it. If so, unlogged is the number of events since the last line
// that were not logged.
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

// recordAdmin counts an administrator's call that only reads (GET), and stores any other call. If it fails, the call must not
// be carried out.
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

func (s *Server) adminCredit(ctx context.Context, c api.Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, +1)
}

func (s *Server) adminDebit(ctx context.Context, c api.Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
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

func (s *Server) adminAudit(ctx context.Context, _ api.Caller, _ *struct{}) (wire.AuditReply, error) {
	audit, err := s.packets.LastAudit(ctx)
	return convert.Audit(audit), err
}

func (s *Server) adminStartAudit(ctx context.Context, _ api.Caller, r *wire.StartAuditRequest) (wire.StartAuditReply, error) {
	at, err := s.packets.AskAudit(ctx, r.Whole)
	return wire.StartAuditReply{At: convert.Millis(at)}, err
}

func (s *Server) adminHeads(ctx context.Context, _ api.Caller, _ *struct{}) (wire.HeadsReply, error) {
	heads, err := s.packets.Heads(ctx)
	return convert.Heads(heads), err
}

func (s *Server) adminDisconnect(ctx context.Context, _ api.Caller, r *wire.DisconnectRequest) (wire.DisconnectReply, error) {
	return wire.DisconnectReply{}, s.revoke(ctx, r.User)
}

func (s *Server) adminStats(context.Context, api.Caller, *struct{}) (wire.StatsReply, error) {
	return s.Stats(), nil
}

// revoke revokes the user's tokens and then closes the user's sockets, in this order: a client cannot reconnect
// with a revoked token.
func (s *Server) revoke(ctx context.Context, user string) error {
	if err := s.chat.Revoke(ctx, user); err != nil {
		return err
	}
	s.Disconnect(user)
	return nil
}

// Stats returns figures of this instance only, not of all instances.
func (s *Server) Stats() wire.StatsReply {
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
		Grabs:  wire.GrabStats{Won: p.Won, Already: p.Already, Empty: p.Empty, Expired: p.Expired, Entered: p.Entered, Elsewhere: p.Elsewhere, Failed: p.Failed},
	}
}
