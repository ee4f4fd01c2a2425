package web

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hongbao/redpacket/meter"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/metrics"
	"hongbao/web/webpush"
	"hongbao/web/wire"
)

// newMetrics returns the metrics of the server and of the parts that it uses.
func (s *Server) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Sources{
		Build: s.o.Build, Methods: api.Methods(), Hub: s.hub, Chat: s.chat, Packets: s.packets, Engines: s.o.Engines,
		Web: func() metrics.Web {
			kinds, acts := s.o.Security.Totals()
			reading, readsRefused := s.commands.Scans()
			var events metrics.Events
			var pushes webpush.Stats
			if s.o.Push != nil {
				pushes = s.o.Push.Stats()
			}
			if s.o.Events != nil {
				events = s.o.Events()
			}
			var questions []meter.Questions
			if s.o.HookStats != nil {
				questions = s.o.HookStats()
			}
			return metrics.Web{
				Questions:       questions,
				ConnectsWaiting: s.connects.waiting.Load(), ConnectsRefused: s.connects.refused.Load(),
				SocketsRefused: int64(s.sockets.Refusals()), HTTPSlow: int64(s.replies.Endings()), ConnsClosed: int64(s.conns.Closings()),
				ReadsWaiting: int64(reading), ReadsRefused: int64(readsRefused), Security: kinds, AdminActs: acts, Events: events, Push: pushes.ByOutcome(),
			}
		},
	})
}

// Observe records a request that another listener has answered. method must be one of few names.
func (s *Server) Observe(method string, code wire.Code, took time.Duration) {
	s.metrics.Command(method, code, took)
}

// readyTime limits how long /readyz waits for the check of the parts.
const readyTime = 2 * time.Second

// Ops configures the operator's listener.
type Ops struct {
	Token string // bearer token for the listener; empty: none is needed, but the request's Host must name this machine
	Pprof bool   // serve profiles
}

// OpsHandler serves health checks, metrics and profiles to the operator. Serve it on a separate listener.
//
// Without a token in Options.Ops, OpsHandler answers only requests whose Host names this machine. Otherwise a web page could
// use a browser on this machine to read the endpoints, through a host name that resolves to a loopback address (DNS rebinding).
// If a token is set, requests without it get only the status of /healthz and /readyz, so that load balancers need no token.
func (s *Server) OpsHandler() http.Handler {
	o := operator{Ops: s.o.Ops, parts: s.o.Parts, stopping: s.stopping.Load}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", o.serveReady)
	mux.Handle("GET /metrics", o.only(promhttp.HandlerFor(s.metrics.Registry, promhttp.HandlerOpts{})))
	if o.Pprof {
		for path, serve := range map[string]http.HandlerFunc{
			"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
		} {
			mux.Handle("/debug/pprof/"+path, o.only(serve))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSafeHeaders(w.Header())
		w.Header().Set("Content-Security-Policy", noContentPolicy)
		if o.Token == "" && !namesThisMachine(r.Host) {
			http.Error(w, "the Host of the request does not name this machine", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operator has the handlers of the operator's listener.
type operator struct {
	Ops
	parts    func(context.Context) []Part
	stopping func() bool
}

// only refuses requests without the operator's token, if a token is set.
func (o operator) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.sent(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the operator's token is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sent reports whether the request carries the operator's token, or no token is set.
func (o operator) sent(r *http.Request) bool {
	token, _ := auth.Bearer(r)
	return o.Token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(o.Token)) == 1
}

// namesThisMachine reports whether a Host header is a loopback address or localhost, with or without a port.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || address(host).IsLoopback()
}

// Part is the state of one part of the system, as /readyz reports it.
type Part struct {
	Name   string
	Err    error // nil: it works
	Needed bool  // without it, load balancers must not send clients here
}

// serveReady tells a load balancer whether this instance accepts clients. Only the operator is told what does not work.
func (o operator) serveReady(w http.ResponseWriter, r *http.Request) {
	state, status := "ready", http.StatusOK
	var reasons []string
	if o.stopping() {
		state, status, reasons = "not ready", http.StatusServiceUnavailable, []string{"stopping"}
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		for _, part := range o.parts(ctx) {
			switch {
			case part.Err == nil:
				continue
			case part.Needed:
				state, status = "not ready", http.StatusServiceUnavailable
			case status == http.StatusOK:
				state = "degraded"
			}
			reasons = append(reasons, part.Name+": "+strings.ReplaceAll(part.Err.Error(), "\n", "; "))
		}
	}
	if !o.sent(r) {
		reasons = nil
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, strings.Join(append([]string{state}, reasons...), "\n"))
}
