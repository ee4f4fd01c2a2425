package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
)

const (
	// actsAge is how old an act is before it is exported. An act is stored within 5 s, or not at all, and the clocks of
	// instances differ by at most 5 s. So no act is added before one that was exported.
	actsAge = 15 * time.Second
	// actReads bounds how many pages of acts one request reads, because few of the acts that it reads may fit its filter.
	actReads = 20
)

func (s *Server) getActs(ctx context.Context, _ Caller, r *hostapi.GetActsRequest) (reply hostapi.ActsReply, err error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return reply, err
	}
	if r.User != "" && !chat.ValidUser(r.User) {
		return reply, chat.BadField("user", "is no id of a user")
	}
	reply = hostapi.ActsReply{Acts: []hostapi.Act{}, Next: r.After, More: true}
	for range actReads {
		room := limit - len(reply.Acts)
		acts, next, err := s.readActs(ctx, r, reply.Next, room)
		switch {
		case errors.Is(err, chat.ErrBadRequest):
			return hostapi.ActsReply{}, chat.BadField("after", "is no cursor of the acts")
		case err != nil:
			return hostapi.ActsReply{}, err
		}
		reply.Acts = append(reply.Acts, slices.DeleteFunc(acts, func(a hostapi.Act) bool { return !fits(a, r) })...)
		if reply.Next, reply.More = next, len(acts) == room; !reply.More || len(reply.Acts) == limit {
			break
		}
	}
	return reply, nil
}

// readActs reads a page of acts, whether or not they fit.
func (s *Server) readActs(ctx context.Context, r *hostapi.GetActsRequest, after string, limit int) (acts []hostapi.Act, next string, err error) {
	if r.Newest {
		return s.o.Acts.Before(ctx, after, limit)
	}
	return s.o.Acts.After(ctx, after, time.Now().Add(-s.o.ActsAge), limit)
}

// fits reports whether an act is what the request asks for.
func fits(a hostapi.Act, r *hostapi.GetActsRequest) bool {
	return (r.Key == "" || a.Actor == "key/"+r.Key) &&
		(r.User == "" || a.Actor == r.User || hostapi.Names(a.Request, r.User))
}
