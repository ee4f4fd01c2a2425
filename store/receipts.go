package store

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
)

// settingReceiptKeys is the name of the setting with all public keys that have signed receipts, without separators.
const settingReceiptKeys = "receipt_keys"

// ReceiptKeys returns the key that signs the receipts of draws, and the public keys of all receipts so far, the present one last. The key follows
// from the data key, so a copy of the database alone cannot sign. Without a data key, it is stored in the database.
func (b *Books) ReceiptKeys(ctx context.Context) (sign ed25519.PrivateKey, all []ed25519.PublicKey, err error) {
	if sign = b.keys.ReceiptKey(); sign == nil {
		seed, err := b.drawKey(ctx, "receipt_key")
		if err != nil {
			return nil, nil, fmt.Errorf("read the key of receipts: %w", err)
		}
		sign = ed25519.NewKeyFromSeed(seed)
	}
	stored, err := b.sql.Setting(ctx, settingReceiptKeys)
	if err != nil {
		return nil, nil, fmt.Errorf("read the keys of receipts: %w", err)
	}
	for key := range slices.Chunk(stored, ed25519.PublicKeySize) {
		all = append(all, key)
	}
	public := sign.Public().(ed25519.PublicKey)
	known := len(all)
	all = append(slices.DeleteFunc(all, func(key ed25519.PublicKey) bool { return bytes.Equal(key, public) }), public)
	if len(all) == known {
		return sign, all, nil
	}
	if err := b.sql.PutSetting(ctx, settingReceiptKeys, append(bytes.Clone(stored), public...)); err != nil {
		return nil, nil, fmt.Errorf("store the keys of receipts: %w", err)
	}
	return sign, all, nil
}
