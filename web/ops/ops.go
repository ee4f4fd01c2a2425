// Package ops serves the operator's listener: health, readiness, metrics and profiles. Package web passes the figures in. Below it,
// metrics has what /metrics shows, and traces sends spans to a collector.
//
// It must always hold: without the operator's token a request learns at most whether the instance accepts clients. If no token is set, the
// Host of the request must name this machine.
package ops

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hongbao/web/user/auth"
)

// readyTime limits how long /readyz waits for the check of the parts.
const readyTime = 2 * time.Second

// Options configure the operator's listener.
type Options struct {
	Token string                       // bearer token for the listener; empty: none is needed, but the request's Host must name this machine
	Pprof bool                         // serve profiles
	Parts func(context.Context) []Part // for /readyz: the state of each part; nil: there are no parts
}

// Handler serves health checks, metrics and profiles to the operator. Serve it on a separate listener. While stopping returns true,
// /readyz answers 503.
//
// Without a token, Handler answers only requests whose Host names this machine. Otherwise a web page could use a browser on this
// machine to read the endpoints, through a host name that resolves to a loopback address (DNS rebinding). If a token is set, requests
// without it get only the status of /healthz and /readyz, so that load balancers need no token.
func Handler(o Options, figures prometheus.Gatherer, stopping func() bool) http.Handler {
	s := operator{Options: o, stopping: stopping}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.Handle("GET /metrics", s.only(promhttp.HandlerFor(figures, promhttp.HandlerOpts{})))
	if o.Pprof {
		for path, serve := range map[string]http.HandlerFunc{
			"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
		} {
			mux.Handle("/debug/pprof/"+path, s.only(serve))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		if o.Token == "" && !namesThisMachine(r.Host) {
			http.Error(w, "the Host of the request does not name this machine", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operator has the handlers of the operator's listener.
type operator struct {
	Options
	stopping func() bool
}

// only refuses requests without the operator's token, if a token is set.
func (s operator) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.sent(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the operator's token is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sent reports whether the request carries the operator's token, or no token is set.
func (s operator) sent(r *http.Request) bool {
	token, _ := auth.Bearer(r)
	return s.Token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// namesThisMachine reports whether a Host header is a loopback address or localhost, with or without a port.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || isLoopback(host)
}

func isLoopback(address string) bool {
	a, err := netip.ParseAddr(strings.Trim(address, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// Part is the state of one part of the system, as /readyz reports it.
type Part struct {
	Name   string
	Err    error // nil: it works
	Needed bool  // without it, load balancers must not send clients here
}

// serveReady tells a load balancer whether this instance accepts clients. Only the operator is told what does not work.
func (s operator) serveReady(w http.ResponseWriter, r *http.Request) {
	state, status := "ready", http.StatusOK
	var reasons []string
	if s.stopping() {
		state, status, reasons = "not ready", http.StatusServiceUnavailable, []string{"stopping"}
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		for _, part := range s.states(ctx) {
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
	if !s.sent(r) {
		reasons = nil
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, strings.Join(append([]string{state}, reasons...), "\n"))
}

func (s operator) states(ctx context.Context) []Part {
	if s.Parts == nil {
		return nil
	}
	return s.Parts(ctx)
}
