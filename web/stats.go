package web

import (
	"context"

	"hongbao/web/wire"
)

// disconnect refuses all tokens that the user has now, and then closes his sockets: none can come back with them.
func (s *Server) disconnect(ctx context.Context, _ Caller, r *wire.DisconnectRequest) (wire.DisconnectReply, error) {
	if err := s.chat.Revoke(ctx, r.User); err != nil {
		return wire.DisconnectReply{}, err
	}
	s.Disconnect(r.User)
	return wire.DisconnectReply{}, nil
}

// stats are the figures of this instance alone.
func (s *Server) stats(context.Context, Caller, *struct{}) (wire.StatsReply, error) {
	h, p := s.hub.Stats(), s.packets.Stats()
	closes := make(map[int]int64, len(h.Closes))
	for code, n := range h.Closes {
		closes[code] = int64(n)
	}
	return wire.StatsReply{
		Instance: s.pub.node, Version: s.o.Version, StartedAt: s.started.UnixMilli(), Draining: s.draining.Load(),
		Connections: h.Connections, Users: len(s.sockets.users()), Topics: h.Topics, QueuedBytes: h.QueuedBytes,
		Delivered: int64(h.Delivered), Shed: int64(h.Shed), GapRepairs: int64(h.GapRepairs), BusDown: h.BusDown,
		Closes: closes,
		Grabs:  wire.GrabStats{Won: p.Won, Already: p.Already, Empty: p.Empty, Expired: p.Expired, Pending: p.Pending, Failed: p.Failed},
	}, nil
}
