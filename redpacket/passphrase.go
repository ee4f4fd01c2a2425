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

// normal returns the form in which a passphrase is stored and compared: Unicode NFKC, without spaces at either end.
func normal(passphrase string) string { return strings.TrimSpace(norm.NFKC.String(passphrase)) }

// same compares two texts. The time that it takes depends on neither text, nor on their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// passphraseGuard limits how often a user may guess the passphrase of a packet.
type passphraseGuard struct {
	limiter  chat.Limiter // nil: no passphrase is accepted
	unlocked recentSet    // packets with users that have given the right passphrase: their later tries cost no token
}

// errNoGuessLimiter refuses a passphrase because there is no limiter for guesses. A passphrase that can be guessed
// without limit protects nothing.
var errNoGuessLimiter = fmt.Errorf("%w: tries at passphrases are not counted", chat.ErrUnavailable)

// guessRate limits each user at each packet: five guesses at first, then one every 12 seconds.
var guessRate = chat.Rate{PerSecond: 1.0 / 12, Burst: 5}

// checkNew refuses a new packet's passphrase if there is no limiter for guesses.
func (g *passphraseGuard) checkNew(passphrase string) error {
	if passphrase != "" && g.limiter == nil {
		return errNoGuessLimiter
	}
	return nil
}

// check returns an error unless the passphrase is right. Every try costs a token before it is compared, even if the
// passphrase is right. Otherwise a user without tokens could still guess.
func (g *passphraseGuard) check(ctx context.Context, p *Packet, user, passphrase string) error {
	switch {
	case p.Passphrase == "":
		return nil
	case g.limiter == nil:
		return errNoGuessLimiter
	}
	guesser := p.ID + ":" + user
	known := g.unlocked.has(guesser)
	if !known {
		wait, err := g.limiter.Take(ctx, "passphrase:"+guesser, guessRate)
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
		g.unlocked.add(guesser)
	}
	return nil
}
