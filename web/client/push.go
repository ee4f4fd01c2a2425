package client

import (
	"context"

	"hongbao/web/wire"
)

// PushSubscription is where the push service of a browser takes notifications for the user (Web Push). The keys are in base64url.
type PushSubscription struct{ Endpoint, P256dh, Auth string }

// SubscribePush makes the server send notifications of news to the subscription while the user has no socket.
func (c *Client) SubscribePush(ctx context.Context, s PushSubscription) error {
	return c.Call(ctx, "subscribe_push", wire.SubscribePushRequest(s), new(wire.SubscribePushReply))
}
