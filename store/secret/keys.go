package secret

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hongbao/redpacket"
)

// ErrNoKey means that a value is encrypted with a key that is not among the keys.
var ErrNoKey = errors.New("data key is missing")

// ID is the public name of a key.
type ID [8]byte

// String returns the id in hex.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Keys holds the keys of one key file. A nil *Keys means that there is no key file. Its methods are safe for concurrent use.
type Keys struct {
	all  []key // the first one encrypts
	file string
}

type key struct {
	id       ID
	aead     cipher.AEAD
	requests []byte // key of the request hashes
	receipts ed25519.PrivateKey
}

const (
	keySize = 32
	maxKeys = 2
	version = 1
	header  = 1 + len(ID{})
)

// parse reads the content of a key file.
func parse(text, file string) (*Keys, error) {
	keys := &Keys{file: file}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := hex.DecodeString(line)
		if err != nil || len(raw) != keySize { // the line itself is secret
			return nil, fmt.Errorf("%s: key %d is not %d hex digits", file, len(keys.all)+1, 2*keySize)
		}
		k, err := derive(raw)
		if err != nil {
			return nil, err
		}
		keys.all = append(keys.all, k)
	}
	switch n := len(keys.all); {
	case n == 0 || n > maxKeys:
		return nil, fmt.Errorf("%s has %d keys, want 1 or %d", file, n, maxKeys)
	case n == maxKeys && keys.all[0].id == keys.all[1].id:
		return nil, fmt.Errorf("%s has the same key twice", file)
	}
	return keys, nil
}

func derive(raw []byte) (k key, err error) {
	parts := map[string][]byte{"id": nil, "encrypt": nil, "requests": nil, "receipt/1": nil}
	for name := range parts {
		if parts[name], err = hkdf.Expand(sha256.New, raw, "hongbao/data-key/1/"+name, keySize); err != nil {
			return key{}, err
		}
	}
	block, err := aes.NewCipher(parts["encrypt"])
	if err != nil {
		return key{}, err
	}
	copy(k.id[:], parts["id"])
	k.requests = parts["requests"]
	k.receipts = ed25519.NewKeyFromSeed(parts["receipt/1"])
	k.aead, err = cipher.NewGCMWithRandomNonce(block)
	return k, err
}

// First returns the id of the key that encrypts. k must not be nil.
func (k *Keys) First() ID { return k.all[0].id }

// Check returns an error that wraps ErrNoKey if one of the keys that the database needs is missing. needed has the ids of these keys,
// one after the other.
func (k *Keys) Check(needed []byte) error {
	for id := range slices.Chunk(needed, len(ID{})) {
		if k.find(id) == nil {
			return k.missing(id)
		}
	}
	return nil
}

// Contains reports whether the key with this id is one of those that the database needs.
func Contains(needed []byte, id ID) bool {
	return slices.ContainsFunc(slices.Collect(slices.Chunk(needed, len(id))), func(has []byte) bool { return bytes.Equal(has, id[:]) })
}

// missing returns the error about a key that is not among the keys.
func (k *Keys) missing(id []byte) error {
	if k == nil {
		return fmt.Errorf("%w: the database is encrypted with the key %x: set HONGBAO_DATA_KEY_FILE to the file that has it", ErrNoKey, id)
	}
	ids := make([]string, len(k.all))
	for i, has := range k.all {
		ids[i] = has.id.String()
	}
	return fmt.Errorf("%w: the database is encrypted with the key %x, and %s has %s: restore the file, or add that key to it as the second line",
		ErrNoKey, id, k.file, strings.Join(ids, " and "))
}

func (k *Keys) find(id []byte) *key {
	if k == nil {
		return nil
	}
	for i := range k.all {
		if bytes.Equal(k.all[i].id[:], id) {
			return &k.all[i]
		}
	}
	return nil
}

// encrypt returns the encrypted value of a column.
func (k *Keys) encrypt(column, row string, value []byte) []byte {
	first := &k.all[0]
	out := make([]byte, 0, header+first.aead.Overhead()+len(value))
	out = append(append(out, version), first.id[:]...)
	return first.aead.Seal(out, nil, value, additional(column, row))
}

// decrypt returns the value of a column that encrypt has encrypted.
func (k *Keys) decrypt(column, row string, stored []byte) ([]byte, error) {
	if len(stored) < header || stored[0] != version {
		return nil, fmt.Errorf("%s of %s is no encrypted value", column, row)
	}
	with := k.find(stored[1:header])
	if with == nil {
		return nil, fmt.Errorf("%s of %s: %w", column, row, k.missing(stored[1:header]))
	}
	value, err := with.aead.Open(nil, nil, stored[header:], additional(column, row))
	if err != nil {
		return nil, fmt.Errorf("%s of %s was changed in the database, or copied from another row: %w", column, row, err)
	}
	return value, nil
}

func additional(column, row string) []byte { return []byte(column + "\x00" + row) }

// RequestHash returns what is stored for a request whose hash covers a passphrase: an HMAC of the hash. Without keys it is
// the hash itself.
func (k *Keys) RequestHash(hash []byte) []byte {
	if k == nil {
		return hash
	}
	return k.all[0].requestHash(hash)
}

// SameRequest reports whether stored is the hash of a request itself, or an HMAC of it under one of the keys.
func (k *Keys) SameRequest(stored, hash []byte) bool {
	if bytes.Equal(stored, hash) || k == nil {
		return bytes.Equal(stored, hash)
	}
	for i := range k.all {
		if hmac.Equal(stored, k.all[i].requestHash(hash)) {
			return true
		}
	}
	return false
}

// ReceiptKey returns the key that signs receipts of draws. It is nil without keys.
func (k *Keys) ReceiptKey() ed25519.PrivateKey {
	if k == nil {
		return nil
	}
	return k.all[0].receipts
}

func (k *key) requestHash(hash []byte) []byte {
	mac := hmac.New(sha256.New, k.requests)
	mac.Write(hash)
	return mac.Sum(nil)
}

// These names are part of the additional data of encrypted values, so they must never change.
const (
	nextSeed   = "users.next_seed"
	packetSeed = "packets.encrypted_seed"
	passphrase = "packets.passphrase"
)

// EncryptNextSeed returns the value of next_seed for the seed of the user's next packet. Without keys that is the seed itself.
func (k *Keys) EncryptNextSeed(user string, seed redpacket.Seed) []byte {
	if k == nil {
		return seed[:]
	}
	return k.encrypt(nextSeed, user, seed[:])
}

// NextSeed returns the seed in next_seed. It returns drawn = false if there is none: the column is null.
func (k *Keys) NextSeed(user string, stored []byte) (seed redpacket.Seed, drawn bool, err error) {
	if stored == nil {
		return seed, false, nil
	}
	if len(stored) != len(seed) {
		if stored, err = k.decrypt(nextSeed, user, stored); err != nil {
			return seed, false, err
		}
	}
	if seed, err = seedOf(stored); err != nil {
		return seed, false, fmt.Errorf("%s of %s: %w", nextSeed, user, err)
	}
	return seed, true, nil
}

// Current reports whether next_seed is encrypted with the first key.
func (k *Keys) Current(stored []byte) bool {
	return len(stored) > header && len(stored) != len(redpacket.Seed{}) && ID(stored[1:header]) == k.First()
}

func seedOf(value []byte) (seed redpacket.Seed, err error) {
	if len(value) != len(seed) {
		return seed, fmt.Errorf("seed has %d bytes, want %d", len(value), len(seed))
	}
	return redpacket.Seed(value), nil
}

// Columns are the secret columns of a packet's row.
type Columns struct {
	Seed          []byte // empty while an encrypted packet is open
	Shares        []redpacket.Money
	EncryptedSeed []byte // empty in a row that is not encrypted
	Passphrase    string // in clear; in an encrypted row: encrypted, in base64
	Draw          bool   // the packet is a draw, so how it is cut may change until it is drawn
	Parts         int    // of a draw: how many shares the total was cut into anew, in place of Shares; 0: it was not
}

// Packet returns the secret columns of a packet that is about to be stored as open.
func (k *Keys) Packet(p redpacket.Packet, seed redpacket.Seed, shares []redpacket.Money) Columns {
	if k == nil {
		return Columns{Seed: seed[:], Shares: shares, EncryptedSeed: []byte{}, Passphrase: p.Passphrase}
	}
	c := Columns{Seed: []byte{}, Shares: []redpacket.Money{}, EncryptedSeed: k.encrypt(packetSeed, p.ID, seed[:])}
	if p.Passphrase != "" {
		c.Passphrase = base64.StdEncoding.EncodeToString(k.encrypt(passphrase, p.ID, padded(p.Passphrase)))
	}
	return c
}

// Seed returns the seed of a packet.
func (k *Keys) Seed(packet string, c Columns) (redpacket.Seed, error) {
	if len(c.Seed) > 0 || len(c.EncryptedSeed) == 0 { // in clear, or closed
		return seedOf(c.Seed)
	}
	value, err := k.decrypt(packetSeed, packet, c.EncryptedSeed)
	if err != nil {
		return redpacket.Seed{}, err
	}
	return seedOf(value)
}

// Cut returns the seed and shares of a packet. Of p it needs the id and the fields from which redpacket.Cut computes shares.
func (k *Keys) Cut(p redpacket.Packet, c Columns) (seed redpacket.Seed, shares []redpacket.Money, err error) {
	if c.Parts > 0 {
		p.Count = c.Parts
	}
	if seed, err = k.Seed(p.ID, c); err != nil {
		return seed, nil, err
	}
	if plain := len(c.Seed) > 0 || len(c.EncryptedSeed) == 0; plain && c.Parts == 0 {
		return seed, c.Shares, nil
	}
	shares, err = redpacket.Cut(seed, p)
	return seed, shares, err
}

// Passphrase returns the passphrase of an encrypted packet. If the packet is closed and its key is gone, it returns the
// encrypted text: a closed packet needs no passphrase, and it is still visible that there was one.
func (k *Keys) Passphrase(packet, stored string, open bool) (string, error) {
	if stored == "" {
		return "", nil
	}
	value, err := base64.StdEncoding.DecodeString(stored)
	if err == nil {
		value, err = k.decrypt(passphrase, packet, value)
	}
	if errors.Is(err, ErrNoKey) && !open {
		return stored, nil
	}
	return strings.TrimRight(string(value), "\x00"), err
}

// padded returns the passphrase followed by zero bytes, so that the encrypted text does not tell the length of a short passphrase.
// No passphrase holds a zero byte (U+0000).
func padded(passphrase string) []byte {
	const block = 64
	return append([]byte(passphrase), make([]byte, (block-len(passphrase)%block)%block)...)
}
