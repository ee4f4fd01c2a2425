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
	maxTokenBytes = 8 << 10 // a longer token is refused before it is parsed

	// DefaultAdminScope is the scope of administrators unless JWT.AdminScope names another. Its prefix keeps it apart from
	// the scopes of other programs that trust the same keys.
	DefaultAdminScope = "hongbao:admin"
	// MaxNameChars is the largest number of characters of a name. A longer name in a token is cut. Package guest refuses one.
	MaxNameChars = 64
	// MaxAvatarBytes is the largest size of the avatar in a token. A larger one counts as absent.
	MaxAvatarBytes = 1024
)

// Identity is what a valid token proves about its bearer.
type Identity struct {
	User    chat.Profile
	Person  string // opaque: accounts with the same one are one human; "": the token does not say
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
	Person string `json:"person,omitempty"`

	named, pictured bool // the token has a name, an avatar; set by UnmarshalJSON
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
		"name": &c.Name, "avatar": &c.Avatar, "scope": &c.Scope, "person": &c.Person,
	} {
		value, ok := values[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, field); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
	}
	c.named, c.pictured = has(values, "name"), has(values, "avatar")
	return nil
}

// has reports whether the object has this name, with a value other than null.
func has(values map[string]json.RawMessage, name string) bool {
	value, ok := values[name]
	return ok && string(value) != "null"
}

// checkSubject checks that sub is a valid user ID. If guests is true, the issuer signs guests' tokens, and sub must be a guest's
// ID. If it is false, sub must not be one.
func checkSubject(sub string, guests bool) error {
	switch {
	case !chat.ValidUser(sub):
		return errors.New("sub is not 1 to 64 of A-Za-z0-9_.:@-")
	case (chat.User{ID: sub}).Guest() != guests:
		return errors.New("sub does not belong to this issuer")
	}
	return nil
}

// identity returns the token's subject as other users will see them. A long name is cut, and a large avatar counts as
// absent, because the user cannot change a token that the host has signed. The bearer is an administrator if the token has the
// scope adminScope; with an empty adminScope no bearer is.
func (c *tokenClaims) identity(adminScope string) Identity {
	id := Identity{
		User:    chat.Profile{User: chat.User{ID: c.Subject, Name: cmp.Or(cleanName(c.Name), c.Subject)}, KeepName: !c.named},
		Admin:   slices.Contains(strings.Fields(c.Scope), adminScope),
		Expires: c.ExpiresAt.Time,
		Person:  c.Person,
	}
	if c.IssuedAt != nil {
		id.Issued = c.IssuedAt.Time
	}
	if avatar := chat.NormalAvatar(c.Avatar); c.pictured && len(avatar) <= MaxAvatarBytes {
		id.User.Avatar = avatar
	} else {
		id.User.KeepAvatar = true
	}
	return id
}

// cleanName normalises the name and cuts it to MaxNameChars.
func cleanName(name string) string {
	name, _ = chat.NormalName(name)
	if runes := []rune(name); len(runes) > MaxNameChars {
		name, _ = chat.NormalName(string(runes[:MaxNameChars])) // the cut may leave half an emoji
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
