package client

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"

	"hongbao/redpacket/proof"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Grab grabs a share of a packet, or enters a draw. passphrase is "" for a packet without one. Like every command it is repeated until the server
// answers or refuses it, ctx is done or the client has ended. A repeated grab that has won before is answered "already".
func (c *Client) Grab(ctx context.Context, packet, passphrase string) (model.Grab, error) {
	var reply wire.GrabReply
	if err := c.Call(ctx, "grab", wire.GrabRequest{Packet: packet, Passphrase: passphrase}, &reply); err != nil {
		return model.Grab{}, err
	}
	return model.GrabOf(reply), nil
}

// CheckReceipt returns an error unless the receipt is the server's word that a user takes part in a packet: its packet, user and leaf fit, and
// one of the server's keys, in hex, has signed it. Package files reads the keys.
func CheckReceipt(keys []string, p model.Packet, user string, r model.Receipt) error {
	leaf := proof.Leaf(p.From.ID, p.Key, uint32(r.Wave), user)
	if r.Packet != p.ID || r.User != user || r.Leaf != hex.EncodeToString(leaf[:]) {
		return fmt.Errorf("the receipt is not that of user %s and packet %s", user, p.ID)
	}
	for _, key := range keys {
		public, err := hex.DecodeString(key)
		if err != nil || key != r.Key {
			continue
		}
		return proof.VerifyReceipt(ed25519.PublicKey(public), ReceiptOf(r))
	}
	return errors.New("the receipt has a key that is none of the server's")
}

// ReceiptOf returns a receipt as package proof checks it.
func ReceiptOf(r model.Receipt) proof.Receipt {
	return proof.Receipt{Packet: r.Packet, Wave: uint32(r.Wave), User: r.User, Leaf: r.Leaf, At: r.At, Key: r.Key, Signature: r.Signature}
}
