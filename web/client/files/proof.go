package files

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

// Proof reads the proof of a finished packet. proof.Check checks it. That of a draw has the leaf of each participant.
func (t Transfer) Proof(ctx context.Context, packet string) (proof.Document, error) {
	answer, err := t.do(ctx, http.MethodGet, "/v1/packets/"+url.PathEscape(packet)+"/proof", http.NoBody, 0)
	if err != nil {
		return proof.Document{}, fmt.Errorf("proof of packet %s: %w", packet, err)
	}
	defer func() { _ = answer.Body.Close() }()
	return proof.ReadDocument(answer.Body)
}

// ReceiptKeys reads the public keys that have signed receipts of draws, in hex. The present one is the last.
func (t Transfer) ReceiptKeys(ctx context.Context) ([]string, error) {
	answer, err := t.do(ctx, http.MethodGet, "/v1/receipt-keys", http.NoBody, 0)
	if err != nil {
		return nil, fmt.Errorf("keys of receipts: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var reply wire.ReceiptKeysReply
	if err := json.NewDecoder(answer.Body).Decode(&reply); err != nil {
		return nil, fmt.Errorf("keys of receipts: %w", err)
	}
	return reply.Keys, nil
}
