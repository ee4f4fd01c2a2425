package sqlitestore

import (
	"encoding/json"
	"fmt"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// storedJSON scans a JSON document.
type storedJSON struct{ into any }

// Scan implements sql.Scanner.
func (j storedJSON) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a document is stored as %T", v)
	}
	return json.Unmarshal([]byte(text), j.into)
}

// storedSeed scans a seed in clear.
type storedSeed struct{ into *redpacket.Seed }

// Scan implements sql.Scanner.
func (s storedSeed) Scan(v any) error {
	text, ok := v.([]byte)
	if !ok || copy(s.into[:], text) != len(text) || len(text) != len(s.into) {
		return fmt.Errorf("a seed is stored as %d bytes of %T", len(text), v)
	}
	return nil
}

// storedHash scans a SHA-256.
type storedHash struct{ into *chain.Hash }

// Scan implements sql.Scanner.
func (s storedHash) Scan(v any) error {
	if hash, ok := v.([]byte); !ok || copy(s.into[:], hash) != len(hash) || len(hash) != len(s.into) {
		return fmt.Errorf("a hash is stored as %d bytes of %T", len(hash), v)
	}
	return nil
}
