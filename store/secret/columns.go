package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"hongbao/redpacket"
)

// These names are part of the additional data of encrypted values, so they never change.
const (
	nextSeed   = "users.next_seed"
	packetSeed = "packets.encrypted_seed"
	passphrase = "packets.passphrase"
)

// EncryptNextSeed returns the value of next_seed for the seed of the user's next packet.
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
	Passphrase    string // encrypted: base64
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

// Cut returns the seed and shares of a packet. Of p it needs the id and the fields from which redpacket.Cut computes shares.
func (k *Keys) Cut(p redpacket.Packet, c Columns) (seed redpacket.Seed, shares []redpacket.Money, err error) {
	if len(c.Seed) > 0 || len(c.EncryptedSeed) == 0 { // in clear, or closed
		seed, err = seedOf(c.Seed)
		return seed, c.Shares, err
	}
	value, err := k.decrypt(packetSeed, p.ID, c.EncryptedSeed)
	if err != nil {
		return seed, nil, err
	}
	if seed, err = seedOf(value); err != nil {
		return seed, nil, err
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

// padded returns the passphrase followed by zeros, so that the encrypted text does not tell the length of a short one. No
// passphrase holds a zero.
func padded(passphrase string) []byte {
	const block = 64
	return append([]byte(passphrase), make([]byte, (block-len(passphrase)%block)%block)...)
}
