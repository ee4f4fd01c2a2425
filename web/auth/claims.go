package auth

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
	guestIssuer   = "hongbao-guest"
	guestPrefix   = "guest:" // of guests' user IDs
	adminScope    = "admin"
	maxTokenBytes = 8 << 10 // a longer token is refused before it is parsed

	// MaxNameChars is the number of characters after which a user's name is cut.
	MaxNameChars = 64
	// MaxAvatarBytes is the largest size of an avatar. A larger one is left out.
	MaxAvatarBytes = 1024
)

// Identity is what a valid token proves about its bearer.
type Identity struct {
	User    chat.User
	Admin   bool
	Issued  time.Time // zero: the token has no iat
	Expires time.Time
}

// tokenClaims holds the claims of a token, whether the host or this server has signed it.
type tokenClaims struct {
	jwt.RegisteredClaims
	Name   string `json:"name,omitempty"`
	Avatar string `json:"avatar,omitempty"`
	Scope  string `json:"scope,omitempty"` // separated by spaces
}

// UnmarshalJSON matches the names of claims exactly, as RFC 7519 requires. encoding/json alone ignores case and would
// read a claim "Scope" as the scope. The host may let its users choose the value of such a claim.
func (c *tokenClaims) UnmarshalJSON(text []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	for name, field := range map[string]any{
		"iss": &c.Issuer, "sub": &c.Subject, "aud": &c.Audience, "jti": &c.ID,
		"exp": &c.ExpiresAt, "nbf": &c.NotBefore, "iat": &c.IssuedAt,
		"name": &c.Name, "avatar": &c.Avatar, "scope": &c.Scope,
	} {
		value, ok := values[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, field); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
	}
	return nil
}

// checkSubject checks that sub is a valid user ID. guests says that the issuer signs guests' tokens: then sub must be a
// guest's ID, otherwise it must not.
func checkSubject(sub string, guests bool) error {
	switch {
	case !chat.ValidUser(sub):
		return errors.New("sub is not 1 to 64 of A-Za-z0-9_.:@-")
	case strings.HasPrefix(sub, guestPrefix) != guests:
		return errors.New("sub does not belong to this issuer")
	}
	return nil
}

// identity returns the token's subject as other users will see them. A long name is cut and a large avatar left out,
// because the user cannot change a token that the host has signed.
func (c *tokenClaims) identity() Identity {
	id := Identity{
		User:    chat.User{ID: c.Subject, Name: cmp.Or(cleanName(c.Name), c.Subject)},
		Admin:   slices.Contains(strings.Fields(c.Scope), adminScope),
		Expires: c.ExpiresAt.Time,
	}
	if c.IssuedAt != nil {
		id.Issued = c.IssuedAt.Time
	}
	if len(c.Avatar) <= MaxAvatarBytes {
		id.User.Avatar = strings.ReplaceAll(c.Avatar, "\x00", "")
	}
	return id
}

// cleanName removes NUL characters and surrounding spaces, and cuts the name to MaxNameChars.
func cleanName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(name, "\x00", ""))
	if runes := []rune(name); len(runes) > MaxNameChars {
		return string(runes[:MaxNameChars])
	}
	return name
}

// Bearer returns the token of the request's Authorization header. ok is false if the request has no such header. For a
// scheme other than Bearer the token is empty, and Verify refuses it.
func Bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", r.Header.Get("Authorization") != ""
	}
	return strings.TrimSpace(token), true
}
