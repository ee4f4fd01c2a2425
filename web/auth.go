package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// errTokenInvalid is any token that is not worth renewing; see also errTokenExpired.
var errTokenInvalid = errors.New("token invalid")

// JWT says which tokens of the host are believed: those signed with one of Secret, PublicKey and JWKS. The zero value
// believes none.
type JWT struct {
	Secret    []byte // HS256, at least 32 bytes
	PublicKey []byte // PEM: RSA for RS256, P-256 for ES256, Ed25519 for EdDSA
	JWKS      string // the URL of such keys
	Issuer    string // checked when set
	Audience  string // checked when set
}

// Check tells what is wrong with the settings.
func (j JWT) Check() error {
	_, err := j.authority(time.Now, slog.New(slog.DiscardHandler))
	return err
}

// authority is somebody whose tokens are believed: his keys, and what the claims must say.
type authority struct {
	keys      keySource
	validator *jwt.Validator
	guests    bool // may name guests, and nobody else
}

// verifier checks tokens of the host and, when there are guests, our own.
type verifier struct {
	parser *jwt.Parser
	host   *authority // nil: none configured
	guests *authority // nil: guests are off
}

func newVerifier(host JWT, guestKey []byte, now func() time.Time, log *slog.Logger) (*verifier, error) {
	// Claims are checked by the authority's validator, once the signature is known to be good.
	v := &verifier{parser: jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())}
	var err error
	if v.host, err = host.authority(now, log); err != nil {
		return nil, fmt.Errorf("JWT %w", err)
	}
	if v.guests, err = (JWT{Secret: guestKey, Issuer: guestIssuer}).trusted(now, log); err != nil {
		return nil, fmt.Errorf("guest %w", err)
	}
	if v.guests != nil {
		v.guests.guests = true
	}
	return v, nil
}

// run keeps the keys of the host fresh, where they change, until ctx is done.
func (v *verifier) run(ctx context.Context) {
	if v.host == nil {
		return
	}
	if keys, ok := v.host.keys.(*jwks); ok {
		keys.run(ctx)
	}
}

// authority of the host, who must not speak for us.
func (j JWT) authority(now func() time.Time, log *slog.Logger) (*authority, error) {
	if j.Issuer == guestIssuer {
		return nil, fmt.Errorf("issuer: %q is the server's own", guestIssuer)
	}
	return j.trusted(now, log)
}

// trusted is the authority whose keys these are; nil: there are none.
func (j JWT) trusted(now func() time.Time, log *slog.Logger) (*authority, error) {
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
	return &authority{keys: keys, validator: jwt.NewValidator(checks...)}, nil
}

// verify tells who the bearer of the token is: errTokenExpired when time is all that is wrong with it, errTokenInvalid
// when more is, and chat.ErrUnavailable when the keys cannot be had.
func (v *verifier) verify(ctx context.Context, token string) (identity, error) {
	if len(token) == 0 || len(token) > maxToken {
		return identity{}, fmt.Errorf("%w: %d bytes long", errTokenInvalid, len(token))
	}
	var c claims
	var by *authority
	_, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if by = v.host; c.Issuer == guestIssuer { // not yet to be believed: it only says which key to try
			by = v.guests
		}
		if by == nil {
			return nil, errors.New("nobody signs such tokens")
		}
		return keyOf(ctx, by.keys, t)
	})
	switch {
	case errors.Is(err, chat.ErrUnavailable):
		return identity{}, err
	case err != nil:
		return identity{}, fmt.Errorf("%w: %w", errTokenInvalid, err)
	}
	if err := checkSubject(c.Subject, by.guests); err != nil {
		return identity{}, fmt.Errorf("%w: %w", errTokenInvalid, err)
	}
	if err := by.validator.Validate(&c); err != nil {
		if onlyExpired(err) {
			return identity{}, errTokenExpired
		}
		return identity{}, fmt.Errorf("%w: %w", errTokenInvalid, err)
	}
	return c.identity(), nil
}

// onlyExpired tells whether a new token with the same claims would do.
func onlyExpired(err error) bool {
	others := []error{
		jwt.ErrTokenInvalidIssuer, jwt.ErrTokenInvalidAudience, jwt.ErrTokenNotValidYet, jwt.ErrTokenRequiredClaimMissing,
	}
	return errors.Is(err, jwt.ErrTokenExpired) &&
		!slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) })
}
