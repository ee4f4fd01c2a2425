package client

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/hex"

	"hongbao/redpacket/proof"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

const nonceBytes = 16

// Grab grabs a share of a packet, or enters a draw. passphrase is "" for a packet without one. Like every command it is repeated until the server
// answers or refuses it, ctx is done or the client has ended. A repeated grab that has won before is answered "already". Each grab has a
// random nonce, which only draws use: with it the server cannot choose what the user adds to a draw.
func (c *Client) Grab(ctx context.Context, packet, passphrase string) (model.Grab, error) {
	nonce := make([]byte, nonceBytes)
	_, _ = cryptorand.Read(nonce) // never fails
	sent := hex.EncodeToString(nonce)
	var reply wire.GrabReply
	if err := c.Call(ctx, "grab", wire.GrabRequest{Packet: packet, Passphrase: passphrase, Nonce: sent}, &reply); err != nil {
		return model.Grab{}, err
	}
	grab := model.GrabOf(reply)
	if grab.Outcome == model.EnteredDraw {
		grab.ReceiptIs = receiptIs(grab.Receipt, packet, c.Me().ID, sent)
	}
	return grab, nil
}

// receiptIs returns what a receipt fits.
func receiptIs(r *model.Receipt, packet, user, sent string) string {
	if r == nil || r.Packet != packet || r.User != user {
		return model.ReceiptWrong
	}
	nonce, err := hex.DecodeString(r.Nonce)
	leaf := proof.Leaf(packet, 0, user, nonce)
	switch {
	case err != nil || hex.EncodeToString(leaf[:]) != r.Leaf:
		return model.ReceiptWrong
	case r.Nonce != sent:
		return model.ReceiptEarlier
	}
	return model.ReceiptOwn
}
