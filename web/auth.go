package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// errTokenInvalid is any token that is not worth renewing; see also errTokenExpired.
var errTokenInvalid = errors.New("token invalid")

const (
	guestIssuer = "hongbao-guest"
	guestPrefix = "guest:"
	adminScope  = "admin"
	minSecret   = 32      // bytes: below it HS256 is weaker than its name
	maxToken    = 8 << 10 // bytes: more is not even parsed
	maxAvatar   = 1024    // bytes
)

// JWT says which tokens of the host are believed. The zero value believes none.
type JWT struct {
	Secret   []byte // HS256, at least 32 bytes
	Issuer   string // checked when set
	Audience string // checked when set
}

// identity is what a good token says.
type identity struct {
	user    chat.User
	admin   bool
	expires time.Time
}

// claims are the claims of a token, those of the host and of guests alike.
type claims struct {
	jwt.RegisteredClaims
	Name   string `json:"name,omitempty"`
	Avatar string `json:"avatar,omitempty"`
	Scope  string `json:"scope,omitempty"` // separated by spaces
}

// authority is somebody whose tokens are believed: a key with the one algorithm it is good for, so that a
// token cannot choose how it is checked, and what its claims must say.
type authority struct {
	method    string
	key       jwt.Keyfunc
	validator *jwt.Validator
	guests    bool // may name guests, and nobody else
}

// verifier checks tokens of the host and, when there are guests, our own.
type verifier struct {
	parser *jwt.Parser
	host   *authority // nil: none configured
	guests *authority // nil: guests are off
}

func newVerifier(host JWT, guestKey []byte, now func() time.Time) (*verifier, error) {
	// Claims are checked by the authority's validator, once the signature is known to be good.
	v := &verifier{parser: jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())}
	if host.Issuer == guestIssuer {
		return nil, fmt.Errorf("the issuer %q is the server's own", guestIssuer)
	}
	var err error
	if len(host.Secret) > 0 {
		if v.host, err = hs256(host, now); err != nil {
			return nil, fmt.Errorf("JWT secret: %w", err)
		}
	}
	if len(guestKey) > 0 {
		if v.guests, err = hs256(JWT{Secret: guestKey, Issuer: guestIssuer}, now); err != nil {
			return nil, fmt.Errorf("guest key: %w", err)
		}
		v.guests.guests = true
	}
	return v, nil
}

// hs256 is an authority with a shared secret.
func hs256(c JWT, now func() time.Time) (*authority, error) {
	if len(c.Secret) < minSecret {
		return nil, fmt.Errorf("has %d bytes, needs at least %d", len(c.Secret), minSecret)
	}
	checks := []jwt.ParserOption{jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)}
	if c.Issuer != "" {
		checks = append(checks, jwt.WithIssuer(c.Issuer))
	}
	if c.Audience != "" {
		checks = append(checks, jwt.WithAudience(c.Audience))
	}
	return &authority{
		method:    jwt.SigningMethodHS256.Alg(),
		key:       func(*jwt.Token) (any, error) { return c.Secret, nil },
		validator: jwt.NewValidator(checks...),
	}, nil
}

// verify tells who the bearer of the token is: errTokenExpired when time is all that is wrong with it, else
// errTokenInvalid.
func (v *verifier) verify(token string) (identity, error) {
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
		if t.Method.Alg() != by.method {
			return nil, fmt.Errorf("signed with %s", t.Method.Alg())
		}
		return by.key(t)
	})
	if err != nil {
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

func checkSubject(sub string, guests bool) error {
	switch {
	case !chat.ValidUser(sub):
		return errors.New("sub is not 1 to 64 of A-Za-z0-9_.:@-")
	case strings.HasPrefix(sub, guestPrefix) != guests:
		return errors.New("sub is not of this issuer")
	}
	return nil
}

// identity takes what others will see of the user. A name too long is cut and an avatar too long left
// out: the user cannot mend his token.
func (c *claims) identity() identity {
	id := identity{
		user:    chat.User{ID: c.Subject, Name: cmp.Or(cleanName(c.Name), c.Subject)},
		admin:   slices.Contains(strings.Fields(c.Scope), adminScope),
		expires: c.ExpiresAt.Time,
	}
	if len(c.Avatar) <= maxAvatar {
		id.user.Avatar = strings.ReplaceAll(c.Avatar, "\x00", "")
	}
	return id
}

// bearer is the token in a request's header, if there is one.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", r.Header.Get("Authorization") != ""
	}
	return strings.TrimSpace(token), true
}
