package proof

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Receipt is what the server gives to a participant: its word that the participant's leaf is under the root. A participant whose
// receipt has a leaf that is not under the root can prove that the server left it out.
type Receipt struct {
	Packet    string `json:"packet"`
	Wave      uint32 `json:"wave,omitempty"`
	User      string `json:"user"`
	Leaf      string `json:"leaf"`      // in hex, as all that follows
	At        int64  `json:"at"`        // when the entry was committed, in Unix milliseconds
	Key       string `json:"key"`       // the server's public key
	Signature string `json:"signature"` // Ed25519 over ReceiptText
}

// ReceiptText returns what the server signs. at is in Unix milliseconds.
func ReceiptText(packet string, wave uint32, leaf Hash, user string, at int64) []byte {
	return fields([]byte(receiptLabel), []byte(packet), number(wave), leaf[:], []byte(user), binary.BigEndian.AppendUint64(nil, uint64(at)))
}

// VerifyReceipt returns an error unless the receipt's signature is by the public key. CheckReceipt also compares its leaf. The caller knows
// which keys are the server's: the key in the receipt proves nothing.
func VerifyReceipt(public ed25519.PublicKey, r Receipt) error {
	leaf, err := hashOf(r.Leaf)
	if err != nil {
		return fmt.Errorf("receipt: the leaf %w", err)
	}
	signature, err := hex.DecodeString(r.Signature)
	if err != nil || len(signature) != ed25519.SignatureSize {
		return fmt.Errorf("receipt: the signature must have %d hex digits", 2*ed25519.SignatureSize)
	}
	switch {
	case len(public) != ed25519.PublicKeySize:
		return fmt.Errorf("receipt: the public key must have %d bytes", ed25519.PublicKeySize)
	case !ed25519.Verify(public, ReceiptText(r.Packet, r.Wave, leaf, r.User, r.At), signature):
		return errors.New("receipt: the signature is not by this key, or a field was changed")
	}
	return nil
}

// hashOf decodes a hash.
func hashOf(text string) (h Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("must have %d hex digits", 2*len(h))
	}
	return Hash(raw), nil
}
