package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

var (
	// ErrInvalid means that a token is refused for any reason other than its expiry alone. Errors wrap it with the reason.
	ErrInvalid = errors.New("token invalid")
	// ErrExpired means that a token has expired and is otherwise valid.
	ErrExpired = errors.New("token expired")
)

// maxClockAhead is how far the clock of an issuer may be ahead. A token whose iat is further in the future is refused, because it
// would outlast a revocation.
const maxClockAhead = 10 * time.Second

// JWT configures which tokens of the host are accepted. At most one of Secret, PublicKey and JWKS may be set. Tokens must be
// signed with that key, with PreviousSecret, or with one of the keys at the JWKS address. If none is set, no token of the host is
// accepted.
//
// A public key most often belongs to an identity provider, which signs tokens for other programs, too. So with a public
// key or JWKS, Issuer or Audience must be set, and a token that names audiences is accepted only if Audience is one of them.
type JWT struct {
	Secret         []byte // HS256, at least 32 bytes
	PreviousSecret []byte // a second HS256 secret that is accepted while Secret replaces it; may be empty
	PublicKey      []byte // PEM: RSA for RS256, P-256 for ES256, Ed25519 for EdDSA
	JWKS           string // URL of a JSON Web Key Set with such public keys
	Issuer         string // required value of iss; empty: not checked
	Audience       string // required value of aud; empty: with PublicKey or JWKS, a token must name no audience; with Secret, not checked
	AdminScope     string // scope of administrators; empty: DefaultAdminScope
}

// GuestKeys are the HS256 keys of guests' tokens.
type GuestKeys struct {
	Key      []byte // signs and verifies, at least 32 bytes; empty: guests are disabled
	Previous []byte // a second key that is accepted while Key replaces it; may be empty
}

// Check returns an error that names the invalid setting, or nil.
func (j JWT) Check() error {
	_, err := j.hostIssuer(time.Now, slog.New(slog.DiscardHandler))
	return err
}

// issuer is the host or this server: its keys, and the checks of its claims.
type issuer struct {
	keys       keySource
	validator  *jwt.Validator
	now        func() time.Time
	adminScope string // empty: a token of this issuer must not have any scope
	noAudience bool   // a token must not name an audience
	guests     bool   // every subject must be a guest; false: none may be
}

// Verifier verifies the tokens of the host's users and of guests. It is safe for concurrent use.
type Verifier struct {
	parser *jwt.Parser
	host   *issuer // nil: not configured
	guests *issuer // nil: guests are disabled
	log    *slog.Logger
}

// NewVerifier returns a Verifier for tokens of the host and for guests' tokens.
func NewVerifier(host JWT, guests GuestKeys, now func() time.Time, log *slog.Logger) (*Verifier, error) {
	// The parser checks only the signature. The issuer's validator checks the claims afterwards.
	v := &Verifier{parser: jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding()), log: log}
	var err error
	if v.host, err = host.hostIssuer(now, log); err != nil {
		return nil, fmt.Errorf("JWT %w", err)
	}
	own := JWT{Secret: guests.Key, PreviousSecret: guests.Previous, Issuer: guestIssuer}
	if v.guests, err = own.newIssuer(now, log); err != nil {
		return nil, fmt.Errorf("guest %w", err)
	}
	if v.guests != nil {
		v.guests.guests, v.guests.adminScope = true, ""
	}
	return v, nil
}

// Run refreshes the host's keys until ctx ends, if they are fetched from a URL. Otherwise it returns at once.
func (v *Verifier) Run(ctx context.Context) {
	if v.host == nil {
		return
	}
	if keys, ok := v.host.keys.(*remoteKeys); ok {
		keys.run(ctx)
	}
}

// hostIssuer returns the issuer for the host's tokens. The host must not use the issuer name of guest tokens.
func (j JWT) hostIssuer(now func() time.Time, log *slog.Logger) (*issuer, error) {
	if j.Issuer == guestIssuer {
		return nil, fmt.Errorf("issuer: %q is reserved for the server's guest tokens, set another", guestIssuer)
	}
	return j.newIssuer(now, log)
}

// newIssuer returns the issuer for these settings, or nil if no key is configured.
func (j JWT) newIssuer(now func() time.Time, log *slog.Logger) (*issuer, error) {
	keys, err := j.keys(now, log)
	if keys == nil {
		return nil, err
	}
	checks := []jwt.ParserOption{jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)}
	if j.Issuer != "" {
		checks = append(checks, jwt.WithIssuer(j.Issuer))
	}
	if j.Audience != "" {
		checks = append(checks, jwt.WithAudience(j.Audience))
	}
	return &issuer{
		keys: keys, validator: jwt.NewValidator(checks...), now: now,
		adminScope: cmp.Or(j.AdminScope, DefaultAdminScope), noAudience: j.shared() && j.Audience == "",
	}, nil
}

// shared reports whether the key may sign tokens for other programs, too.
func (j JWT) shared() bool { return len(j.PublicKey) > 0 || j.JWKS != "" }

// Verify returns the identity that the token proves. Its error is ErrExpired if expiry is the token's only fault. It wraps
// chat.ErrUnavailable if the token's key is unknown and no keys can be fetched now, and ErrInvalid otherwise. If the token's
// key is unknown, Verify may wait for a fetch of keys, until ctx ends. It logs why a token was refused, because
// clients learn only whether the token is invalid or has expired.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	identity, err := v.verify(ctx, token)
	if err != nil {
		v.log.Debug("token refused", "err", err)
	}
	return identity, err
}

func (v *Verifier) verify(ctx context.Context, token string) (Identity, error) {
	if len(token) == 0 || len(token) > maxTokenBytes {
		return Identity{}, fmt.Errorf("%w: it has %d bytes", ErrInvalid, len(token))
	}
	var c tokenClaims
	var by *issuer
	_, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if by = v.host; c.Issuer == guestIssuer { // not verified yet: it only selects which key to verify with
			by = v.guests
		}
		if by == nil {
			return nil, errors.New("no key is configured for this issuer")
		}
		return keyOf(ctx, by.keys, t)
	})
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		return Identity{}, err
	case err != nil:
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := by.checkClaims(&c); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := by.validator.Validate(&c); err != nil {
		if onlyExpired(err) {
			return Identity{}, ErrExpired
		}
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	id := c.identity(by.adminScope)
	if by.guests { // guests may change their name and avatar, and the tokens that were issued before stay valid
		id.User.KeepName, id.User.KeepAvatar = true, true
	}
	return id, nil
}

// checkClaims checks what the validator does not: the subject, a scope or an audience that the token must not have, and
// that it was not issued in the future.
func (i *issuer) checkClaims(c *tokenClaims) error {
	// A token with a bad person is refused: if the claim were ignored, its bearer would count as a person of their own.
	if err := cmp.Or(checkSubject(c.Subject, i.guests), chat.CheckPerson(c.Person)); err != nil {
		return err
	}
	switch {
	case i.adminScope == "" && c.Scope != "":
		return fmt.Errorf("it has the scope %.64q, and this issuer gives none", c.Scope)
	case i.noAudience && len(c.Audience) > 0:
		return fmt.Errorf("it is for the audience %.200q, and no audience is configured", c.Audience)
	case c.IssuedAt != nil && c.IssuedAt.After(i.now().Add(maxClockAhead)):
		return fmt.Errorf("iat is %v, in the future", c.IssuedAt.Time)
	}
	return nil
}

// onlyExpired reports whether expiry is the token's only fault.
func onlyExpired(err error) bool {
	others := []error{
		jwt.ErrTokenInvalidIssuer, jwt.ErrTokenInvalidAudience, jwt.ErrTokenNotValidYet, jwt.ErrTokenRequiredClaimMissing,
	}
	return errors.Is(err, jwt.ErrTokenExpired) &&
		!slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) })
}
