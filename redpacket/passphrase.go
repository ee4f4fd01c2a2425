package redpacket

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm" // the Unicode tables are not in the standard library

	"hongbao/chat"
)

// normal is the passphrase as it is kept and compared: however it was typed, composed or spaced.
func normal(passphrase string) string { return strings.TrimSpace(norm.NFKC.String(passphrase)) }

// same compares in a time that tells nothing of either, not even its length.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// tries keeps people from guessing passphrases.
type tries struct {
	limiter chat.Limiter // nil: nobody may try
	right   recent       // packets and users who knew the passphrase: they have nothing left to guess
}

// errUnguarded means that nobody counts tries: a passphrase that can be guessed for ever is none.
var errUnguarded = fmt.Errorf("%w: tries at passphrases are not counted", chat.ErrUnavailable)

// tryRate is for each user and packet: five, and one more every 12 seconds.
var tryRate = chat.Rate{PerSecond: 1.0 / 12, Burst: 5}

// guard refuses a new passphrase that nobody would guard.
func (t *tries) guard(passphrase string) error {
	if passphrase != "" && t.limiter == nil {
		return errUnguarded
	}
	return nil
}

// check says what is wrong with a try. Each costs a token before it is looked at, the right one too: else who is out of
// tokens could still guess.
func (t *tries) check(ctx context.Context, p *Packet, user, passphrase string) error {
	switch {
	case p.Passphrase == "":
		return nil
	case t.limiter == nil:
		return errUnguarded
	}
	who := p.ID + ":" + user
	known := t.right.has(who)
	if !known {
		wait, err := t.limiter.Take(ctx, "passphrase:"+who, tryRate)
		switch {
		case err != nil:
			return err
		case wait > 0:
			return &chat.RateError{After: wait}
		}
	}
	if !same(normal(passphrase), p.Passphrase) {
		return ErrWrongPassphrase
	}
	if !known {
		t.right.add(who)
	}
	return nil
}
