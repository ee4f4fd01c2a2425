package web

import (
	"net/http"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/web/ops"
	"hongbao/web/ops/metrics"
	"hongbao/web/user/api"
	"hongbao/web/user/webpush"
	"hongbao/web/wire"
)

// newMetrics returns the metrics of the server and of the parts that it uses.
func newMetrics(h *hub.Hub, rooms *chat.Service, packets *redpacket.Service, commands *api.Commands, b bounds, o Options) *metrics.Metrics {
	return metrics.New(metrics.Sources{
		Build: o.Build, Methods: api.Methods(), Hub: h, Chat: rooms, Packets: packets, Engines: o.Engines,
		Web: func() metrics.Web {
			kinds, acts := o.Security.Totals()
			reading, readsRefused := commands.Scans()
			var events metrics.Events
			var pushes webpush.Stats
			if o.Push != nil {
				pushes = o.Push.Stats()
			}
			if o.Events != nil {
				events = o.Events()
			}
			var stored *files.Stats
			if o.Files != nil {
				stats := o.Files.Stats()
				stored = &stats
			}
			var refusals, sockets metrics.Rows
			if o.Trail != nil {
				refusals.Stored, refusals.Dropped = o.Trail.Refusals()
				sockets.Stored, sockets.Dropped = o.Trail.Sockets()
			}
			var questions []meter.Questions
			if o.HookStats != nil {
				questions = o.HookStats()
			}
			return metrics.Web{
				Questions:       questions,
				ConnectsWaiting: b.connects.waiting.Load(), ConnectsRefused: b.connects.refused.Load(),
				SocketsRefused: int64(b.sockets.Refusals()), HTTPSlow: int64(b.replies.Endings()), ConnsClosed: int64(b.conns.Closings()),
				ReadsWaiting: int64(reading), ReadsRefused: int64(readsRefused), Security: kinds, AdminActs: acts, Refusals: refusals, Sockets: sockets, Events: events, Push: pushes.ByOutcome(), Files: stored,
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
