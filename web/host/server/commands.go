package server

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// commands answers the operations with which the host calls the commands of users, for a user or as the system.
type commands struct{ o Config }

func (s commands) routes() []Route {
	var routes []Route
	for _, o := range hostapi.Operations() {
		if o.Command == "" {
			continue
		}
		routes = append(routes, Route{
			operation: o.Name,
			within:    usualTime,
			answer: func(ctx context.Context, c Caller, data []byte) (any, error) {
				if len(data) > wire.FrameBytes {
					return nil, chat.BadField("data", "is over 64 KiB")
				}
				as := chat.System
				if !o.System {
					u, err := s.o.Chat.UserRecord(ctx, c.For)
					if err != nil {
						return nil, err
					}
					if u.Erased() {
						return nil, &chat.FieldError{Err: chat.ErrSuspended, Field: hostapi.For, Reason: "was erased, for ever"}
					}
					if u.Suspended() {
						return nil, chat.ErrSuspended
					}
					as = u.User
				}
				reply, err := s.o.Web.CallFor(ctx, as, c.ForPerson, o.Command, data)
				return json.RawMessage(reply), err
			},
			check: func(hostapi.Operation) error { return nil }, // the types are those of the command
		})
	}
	return routes
}
