package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Claims are what a token says of its bearer. Only User is required.
type Claims struct {
	User     string
	Name     string
	Avatar   string
	Scope    string // separated by spaces; "admin" opens the admin endpoints
	Issuer   string
	Audience string
}

// MintToken signs a token with HS256 that is good for ttl from now: for tests, tools and guests.
func MintToken(secret []byte, c Claims, ttl time.Duration) (string, error) {
	if len(secret) < minSecret {
		return "", fmt.Errorf("mint token: the secret has %d bytes, needs at least %d", len(secret), minSecret)
	}
	if err := checkSubject(c.User, c.Issuer == guestIssuer); err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	now := time.Now()
	signed := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: c.User, Issuer: c.Issuer,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		},
		Name: c.Name, Avatar: c.Avatar, Scope: c.Scope,
	}
	if c.Audience != "" {
		signed.Audience = jwt.ClaimStrings{c.Audience}
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, signed).SignedString(secret)
	if err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	return token, nil
}

const nameChars = 64

// cleanName takes out what no name may hold, and cuts what is too long.
func cleanName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(name, "\x00", ""))
	if runes := []rune(name); len(runes) > nameChars {
		return string(runes[:nameChars])
	}
	return name
}
