package web

import (
	"net/http"
	"time"

	"hongbao/redpacket/meter"
	"hongbao/web/ops"
	"hongbao/web/ops/metrics"
	"hongbao/web/user/api"
	"hongbao/web/user/webpush"
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

// OpsHandler serves the operator's listener: see package ops.
func (s *Server) OpsHandler() http.Handler {
	return ops.Handler(s.o.Ops, s.metrics.Registry, s.stopping.Load)
}
