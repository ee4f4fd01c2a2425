package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"testing"
)

// goldenReceipt returns the receipt of the example in web/docs/protocol/proof.md, with the key that signed it.
func goldenReceipt() (Receipt, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	leaf := Leaf("u-1", "k-1", 0, "u-2")
	return Receipt{
		Packet: "p-1", User: "u-2", Leaf: hex.EncodeToString(leaf[:]), At: 1_800_000_000_000,
		Key:       hex.EncodeToString(private.Public().(ed25519.PublicKey)),
		Signature: hex.EncodeToString(ed25519.Sign(private, ReceiptText("p-1", 0, leaf, "u-2", 1_800_000_000_000))),
	}, private
}

func TestReceiptGolden(t *testing.T) {
	r, private := goldenReceipt()
	if err := VerifyReceipt(private.Public().(ed25519.PublicKey), r); err != nil {
		t.Error(err)
	}
	if want := "8568d5d8bd366a6ce5b8331e5124f7d1c49c3c2869edbfce5ea94c010ba552b727eb165057e093be73b640460d83e879d456381fc7f0b9dee5d84da16c05a104"; r.Signature != want {
		t.Errorf("the signature is %s", r.Signature)
	}
	text := ReceiptText("p", 1, Hash{}, "u", 258)
	want := "\x00\x00\x00\x11hongbao/receipt/2" + "\x00\x00\x00\x01p" + "\x00\x00\x00\x04\x00\x00\x00\x01" + "\x00\x00\x00\x20" + strings.Repeat("\x00", 32) +
		"\x00\x00\x00\x01u" + "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x01\x02"
	if string(text) != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
}

// TestReceiptRefuses changes one field at a time.
func TestReceiptRefuses(t *testing.T) {
	good, private := goldenReceipt()
	public := private.Public().(ed25519.PublicKey)
	for what, change := range map[string]func(*Receipt){
		"another packet":        func(r *Receipt) { r.Packet = "p-2" },
		"another wave":          func(r *Receipt) { r.Wave = 1 },
		"another user":          func(r *Receipt) { r.User = "u-3" },
		"another leaf":          func(r *Receipt) { r.Leaf = strings.Repeat("03", 32) },
		"another instant":       func(r *Receipt) { r.At-- },
		"another signature":     func(r *Receipt) { r.Signature = strings.Repeat("0", 128) },
		"a short leaf":          func(r *Receipt) { r.Leaf = "02" },
		"a short signature":     func(r *Receipt) { r.Signature = "02" },
		"a signature in no hex": func(r *Receipt) { r.Signature = "x" },
	} {
		r := good
		change(&r)
		if VerifyReceipt(public, r) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for _, key := range []ed25519.PublicKey{other, nil, public[1:]} {
		if VerifyReceipt(key, good) == nil {
			t.Errorf("accepted with the key %x", key)
		}
	}
}
