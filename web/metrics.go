package web

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// metrics holds the metrics of one server, in a Prometheus registry of its own.
type metrics struct {
	registry *prometheus.Registry
	commands *prometheus.HistogramVec // in seconds, by method and error code ("0": no error)

	answered map[string]*atomic.Pointer[prometheus.Observer] // for commands without an error, by method; nil pointer: not used yet
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		commands: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hongbao_command_seconds", Help: "How long commands took, by method and error code (0: none).",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "code"}),
		answered: map[string]*atomic.Pointer[prometheus.Observer]{},
	}
	for _, method := range api.Methods() {
		m.answered[method] = new(atomic.Pointer[prometheus.Observer])
	}
	m.registry.MustRegister(m.commands, counts{s.hub, s.chat, s.packets, s.commands, s.connects, &s.sockets, &s.replies, s.o.Security},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// command records one command. For the common case, a known method without an error, it takes no lock and looks up no
// label.
func (m *metrics) command(method string, code wire.Code, took time.Duration) {
	kept := m.answered[method]
	if code != 0 || kept == nil {
		m.commands.WithLabelValues(method, strconv.Itoa(int(code))).Observe(took.Seconds())
		return
	}
	observer := kept.Load()
	if observer == nil {
		made := m.commands.WithLabelValues(method, "0")
		observer = &made
		kept.Store(observer)
	}
	(*observer).Observe(took.Seconds())
}

// counts is a Prometheus collector that reads the counters of the hub, the services, the server and its limits at each
// scrape.
type counts struct {
	hub      *hub.Hub
	chat     *chat.Service
	packets  *redpacket.Service
	commands *api.Commands
	connects *connectLimiter
	sockets  *socketCounts
	replies  *httpReplies
	security Security
}

// figure is one metric value of a scrape.
type figure struct {
	name, help string
	kind       prometheus.ValueType
	value      float64
}

func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector. It sends nothing, because the metrics are not known in advance.
func (c counts) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c counts) Collect(out chan<- prometheus.Metric) {
	h, p := c.hub.Stats(), c.packets.Stats()
	reading, readsRefused := c.commands.Scans()
	for _, f := range []figure{
		{"hongbao_connections", "Open sockets.", prometheus.GaugeValue, float64(h.Connections)},
		{"hongbao_topics", "Rooms and users with an open socket here.", prometheus.GaugeValue, float64(h.Topics)},
		{"hongbao_queued_bytes", "Bytes waiting for sockets and other connections of clients.", prometheus.GaugeValue, float64(h.QueuedBytes)},
		{"hongbao_deliveries_total", "Messages queued to sockets.", prometheus.CounterValue, float64(h.Delivered)},
		{"hongbao_shed_total", "Messages without a sequence number dropped for slow sockets.", prometheus.CounterValue, float64(h.Shed)},
		{"hongbao_slow_total", "Sockets that did not take their messages.", prometheus.CounterValue, float64(h.Slow)},
		{"hongbao_http_slow_total", "Connections ended because too many replies over HTTP waited for slow clients.", prometheus.CounterValue, float64(c.replies.endings())},
		{"hongbao_gap_repairs_total", "Pages of entries fetched because the bus had lost them.", prometheus.CounterValue, float64(h.GapRepairs)},
		{"hongbao_resume_reads_total", "Rooms whose entries were read for clients that came back.", prometheus.CounterValue, float64(h.Resumes)},
		{"hongbao_connects_waiting", "Connects that wait for others.", prometheus.GaugeValue, float64(c.connects.waiting.Load())},
		{"hongbao_connects_refused_total", "Sockets sent away before the upgrade, because too many connect.", prometheus.CounterValue, float64(c.connects.refused.Load())},
		{"hongbao_sockets_refused_total", "Sockets sent away before the upgrade, because too many are open here or from their address.", prometheus.CounterValue, float64(c.sockets.refusals())},
		{"hongbao_reads_waiting", "Commands that read many rows and wait for others.", prometheus.GaugeValue, float64(reading)},
		{"hongbao_reads_refused_total", "Commands that read many rows, refused because too many waited.", prometheus.CounterValue, float64(readsRefused)},
		{"hongbao_closed_by_peer_total", "Sockets closed by their clients.", prometheus.CounterValue, float64(h.ClosedByPeer)},
		{"hongbao_lost_total", "Sockets that ended without a close frame.", prometheus.CounterValue, float64(h.Lost)},
		{"hongbao_bus_down", "1 while the other instances are not heard.", prometheus.GaugeValue, oneIf(h.BusDown)},
		{"hongbao_bus_forged_total", "Payloads on the bus that were dropped because no instance had sent them: any is worth an alarm.", prometheus.CounterValue, float64(h.Forged)},
		{"hongbao_packets_swept_total", "Packets that the sweep found due and began to close.", prometheus.CounterValue, float64(p.Swept)},
		{"hongbao_sweep_failures_total", "Rounds of the sweep that could not ask what is due.", prometheus.CounterValue, float64(p.SweepFailures)},
		{"hongbao_close_failures_total", "Closes of packets that failed, and are tried again.", prometheus.CounterValue, float64(p.CloseFailures)},
		{"hongbao_backstop_failures_total", "Rounds of the backstop that failed.", prometheus.CounterValue, float64(p.BackstopFailures)},
		{"hongbao_recover_failures_total", "Rounds of the recovery of claims that failed.", prometheus.CounterValue, float64(p.RecoverFailures)},
		{"hongbao_claims_quarantined_total", "Claims that can never be paid and were put aside for a person to look at: any is worth an alarm.", prometheus.CounterValue, float64(p.Quarantined)},
		{"hongbao_claims_set_aside", "Claims in the outbox that could not be settled, and are tried again.", prometheus.GaugeValue, float64(p.SetAside)},
		{"hongbao_epoch_changes_total", "New epochs of the database: it had lost commits, or was restored.", prometheus.CounterValue, float64(c.chat.Epochs())},
		{"hongbao_packets_ended_early_total", "Packets to be ended early because the database had lost commits.", prometheus.CounterValue, float64(p.EndedEarly)},
		{"hongbao_claims_settled_at_close_total", "Claims that SQL lacked when their packet was closed, and that were paid then.", prometheus.CounterValue, float64(p.SettledAtClose)},
		{"hongbao_packets_remembered_bytes", "Memory used for packets.", prometheus.GaugeValue, float64(p.Remembered)},
	} {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, nil, nil), f.kind, f.value)
	}
	refused := prometheus.NewDesc("hongbao_security_total", "Events that are counted by origin in the table security_counts.", []string{"kind"}, nil)
	kinds, acts := c.security.Totals()
	for kind, n := range kinds {
		out <- prometheus.MustNewConstMetric(refused, prometheus.CounterValue, float64(n), kind)
	}
	done := prometheus.NewDesc("hongbao_admin_acts_total", "Acts of administrators, as in the table admin_acts.", nil, nil)
	out <- prometheus.MustNewConstMetric(done, prometheus.CounterValue, float64(acts))
	clock := prometheus.NewDesc("hongbao_clock_difference_seconds", "How far a clock of Redis or Postgres is ahead of this instance's.", []string{"clock"}, nil)
	for _, d := range c.packets.Clocks() {
		out <- prometheus.MustNewConstMetric(clock, prometheus.GaugeValue, d.Ahead.Seconds(), d.Clock)
	}
	link := prometheus.NewDesc("hongbao_chain_head_seconds", "Time in the id of the newest link of a hash chain.", []string{"chain"}, nil)
	hash := prometheus.NewDesc("hongbao_chain_head_hash", "First 48 bits of the hash of that link, as a number.", []string{"chain"}, nil)
	for _, h := range c.packets.KnownHeads() {
		number, first := strconv.FormatInt(h.Chain, 10), append([]byte{0, 0}, h.Hash[:6]...)
		out <- prometheus.MustNewConstMetric(link, prometheus.GaugeValue, float64(h.Link>>20)/1000, number)
		out <- prometheus.MustNewConstMetric(hash, prometheus.GaugeValue, float64(binary.BigEndian.Uint64(first)), number)
	}
	closes := prometheus.NewDesc("hongbao_closes_total", "Sockets closed by us, by code.", []string{"code"}, nil)
	for code, n := range h.Closes {
		out <- prometheus.MustNewConstMetric(closes, prometheus.CounterValue, float64(n), strconv.Itoa(code))
	}
	grabs := prometheus.NewDesc("hongbao_grabs_total", "Grabs by outcome.", []string{"outcome"}, nil)
	for outcome, n := range map[string]int64{
		"won": p.Won, "already": p.Already, "empty": p.Empty, "expired": p.Expired, "pending": p.Pending, "failed": p.Failed,
	} {
		out <- prometheus.MustNewConstMetric(grabs, prometheus.CounterValue, float64(n), outcome)
	}
}

// readyTime limits how long /readyz waits for the stores.
const readyTime = 2 * time.Second

// Ops configures the operator's listener.
type Ops struct {
	Token string // bearer token for the listener; empty: none is needed, but the request's Host must name this machine
	Pprof bool   // serve profiles
}

// OpsHandler serves health checks, metrics and profiles to the operator. Serve it on a separate listener.
//
// Without a token it answers only requests whose Host names this machine. A page elsewhere could otherwise make a browser
// on this machine read it, by a host name that resolves to a loopback address (DNS rebinding). With a token, only the
// status of /healthz and /readyz can be read without it, so that load balancers need none.
func (s *Server) OpsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.serveReady)
	mux.Handle("GET /metrics", s.operatorOnly(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})))
	if s.o.Ops.Pprof {
		for path, serve := range map[string]http.HandlerFunc{
			"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
		} {
			mux.Handle("/debug/pprof/"+path, s.operatorOnly(serve))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSafeHeaders(w.Header())
		w.Header().Set("Content-Security-Policy", noContentPolicy)
		if s.o.Ops.Token == "" && !namesThisMachine(r.Host) {
			http.Error(w, "the Host of the request does not name this machine", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operatorOnly refuses requests without the operator's token, if there is one.
func (s *Server) operatorOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.byOperator(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the operator's token is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) byOperator(r *http.Request) bool {
	token, _ := auth.Bearer(r)
	return s.o.Ops.Token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(s.o.Ops.Token)) == 1
}

// namesThisMachine reports whether a Host header is a loopback address or localhost, with or without a port.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || address(host).IsLoopback()
}

// Part is a part of the system of which /readyz tells whether it works.
type Part struct {
	Name   string
	Err    error // nil: it works
	Needed bool  // without it, load balancers must not send clients here
}

// serveReady tells a load balancer whether this instance accepts clients. Only the operator is told what does not work.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	state, status := "ready", http.StatusOK
	var reasons []string
	if s.stopping.Load() {
		state, status, reasons = "not ready", http.StatusServiceUnavailable, []string{"stopping"}
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		for _, part := range s.o.Parts(ctx) {
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
	if !s.byOperator(r) {
		reasons = nil
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, strings.Join(append([]string{state}, reasons...), "\n"))
}
