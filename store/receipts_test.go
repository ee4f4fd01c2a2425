package store

import (
	"testing"
)

// TestReceiptKeys changes the data key and goes back to the first one. All public keys stay listed, and the present one is the last.
func TestReceiptKeys(t *testing.T) {
	t.Parallel()
	one, _ := newKey(t)
	two, _ := newKey(t)
	dir := t.TempDir()
	var first []byte
	for n, step := range []struct {
		file   string
		listed int
	}{{one, 1}, {one, 1}, {join(t, two, one), 2}, {join(t, one, two), 2}} {
		books, err := makeKeyedBooks(t.Context(), Config{DataDir: dir, DataKeyFile: step.file}, quiet)
		noError(t, err)
		sign, all, err := books.ReceiptKeys(t.Context())
		noError(t, err)
		noError(t, books.Close())
		if len(all) != step.listed || !all[len(all)-1].Equal(sign.Public()) {
			t.Errorf("step %d: the keys are %x, and the receipts are signed by %x", n, all, sign.Public())
		}
		if n == 0 {
			first = all[0]
		}
		if back := n == 3; string(all[len(all)-1]) == string(first) != (n != 2) || back && string(all[0]) == string(first) {
			t.Errorf("step %d: the keys are %x, the first was %x", n, all, first)
		}
	}
}

// TestReceiptKeyWithoutADataKey is that of scaled mode without a data key: the key is stored, so it stays the same.
func TestReceiptKeyWithoutADataKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var keys []string
	for range 2 {
		books, err := MakeBooks(t.Context(), Config{DataDir: dir}, "auto", quiet)
		noError(t, err)
		sign, _, err := books.ReceiptKeys(t.Context())
		noError(t, err)
		noError(t, books.Close())
		keys = append(keys, string(sign.Seed()))
	}
	if keys[0] != keys[1] {
		t.Error("each start has another key")
	}
}
