package client

import (
	"context"

	"hongbao/web/wire"
)

// PushSubscription is where the push service of a browser takes notifications for the user (Web Push). The keys are in base64url.
type PushSubscription struct{ Endpoint, P256dh, Auth string }

// PushKey returns the public key of the server that a browser needs to subscribe. It is "" if the server has no Web Push.
func (c *Client) PushKey(ctx context.Context) (string, error) {
	var reply wire.PushKeyReply
	err := c.Call(ctx, "push_key", wire.PushKeyRequest{}, &reply)
	return reply.Key, err
}

// SubscribePush makes the server send notifications of news to the subscription while the user has no socket.
func (c *Client) SubscribePush(ctx context.Context, s PushSubscription) error {
	return c.Call(ctx, "subscribe_push", wire.SubscribePushRequest(s), new(wire.SubscribePushReply))
}

// UnsubscribePush ends a subscription.
func (c *Client) UnsubscribePush(ctx context.Context, endpoint string) error {
	return c.Call(ctx, "unsubscribe_push", wire.UnsubscribePushRequest{Endpoint: endpoint}, new(wire.UnsubscribePushReply))
}
