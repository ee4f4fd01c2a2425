package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

const (
	guestIssuer = "hongbao-guest"
	guestPrefix = "guest:"
	adminScope  = "admin"
	maxToken    = 8 << 10 // bytes: more is not even parsed
	maxAvatar   = 1024    // bytes
)

// identity is what a good token says.
type identity struct {
	user    chat.User
	admin   bool
	issued  time.Time // zero: the token does not say
	expires time.Time
}

// claims are the claims of a token, those of the host and of guests alike.
type claims struct {
	jwt.RegisteredClaims
	Name   string `json:"name,omitempty"`
	Avatar string `json:"avatar,omitempty"`
	Scope  string `json:"scope,omitempty"` // separated by spaces
}

// UnmarshalJSON reads what has exactly the name of a claim, as RFC 7519 has it. By itself encoding/json would take
// "Scope" for the scope, though the host may have let the user choose what it says.
func (c *claims) UnmarshalJSON(text []byte) error {
	var said map[string]json.RawMessage
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	for name, field := range map[string]any{
		"iss": &c.Issuer, "sub": &c.Subject, "aud": &c.Audience, "jti": &c.ID,
		"exp": &c.ExpiresAt, "nbf": &c.NotBefore, "iat": &c.IssuedAt,
		"name": &c.Name, "avatar": &c.Avatar, "scope": &c.Scope,
	} {
		value, ok := said[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, field); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
	}
	return nil
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
	if c.IssuedAt != nil {
		id.issued = c.IssuedAt.Time
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
