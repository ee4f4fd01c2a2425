package client

import (
	"context"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Grab grabs a share of a packet. passphrase is "" for a packet without one. Like every command it is repeated until the server
// answers or refuses it, ctx is done or the client has ended. A repeated grab that has won before is answered "already".
func (c *Client) Grab(ctx context.Context, packet, passphrase string) (model.Grab, error) {
	var reply wire.GrabReply
	if err := c.Call(ctx, "grab", wire.GrabRequest{Packet: packet, Passphrase: passphrase}, &reply); err != nil {
		return model.Grab{}, err
	}
	return model.GrabOf(reply), nil
}
