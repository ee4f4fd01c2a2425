package api

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

// Push is what commands know of Web Push. The zero value says that there is none.
type Push struct {
	Key           string // public key of the server, which browsers need to subscribe
	CheckEndpoint func(endpoint string) error
}

func (a *Commands) pushKey(context.Context, Caller, *wire.PushKeyRequest) (wire.PushKeyReply, error) {
	return wire.PushKeyReply{Key: a.push.Key}, nil
}

func (a *Commands) subscribePush(ctx context.Context, c Caller, r *wire.SubscribePushRequest) (wire.SubscribePushReply, error) {
	if a.push.Key == "" {
		return wire.SubscribePushReply{}, chat.BadField("endpoint", "cannot be used: this server has no Web Push")
	}
	if err := a.push.CheckEndpoint(r.Endpoint); err != nil {
		return wire.SubscribePushReply{}, err
	}
	return wire.SubscribePushReply{}, a.chat.Subscribe(ctx, c.User.ID, chat.NewSubscription{Endpoint: r.Endpoint, P256dh: r.P256dh, Auth: r.Auth})
}

// unsubscribePush also works without Web Push, for subscriptions from before it was switched off.
func (a *Commands) unsubscribePush(ctx context.Context, c Caller, r *wire.UnsubscribePushRequest) (wire.UnsubscribePushReply, error) {
	return wire.UnsubscribePushReply{}, a.chat.Unsubscribe(ctx, c.User.ID, r.Endpoint)
}
