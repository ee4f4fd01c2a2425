package auth

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// Claims holds what Sign puts into a token. Only User is required.
type Claims struct {
	User     string
	Name     string
	Avatar   string
	Scope    string // separated by spaces; DefaultAdminScope opens the admin endpoints
	Person   string
	Issuer   string
	Audience string
	Issued   time.Time // zero: now
}

// Sign returns a token signed with HS256 that is valid for ttl from its issue. It is for SignGuest, tests and tools. In production
// the host signs the tokens of its users.
func Sign(secret []byte, c Claims, ttl time.Duration) (string, error) {
	if len(secret) < minSecretBytes {
		return "", fmt.Errorf("sign token: the secret has %d bytes, need at least %d", len(secret), minSecretBytes)
	}
	if err := checkSubject(c.User, c.Issuer == guestIssuer); err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	issued := c.Issued
	if issued.IsZero() {
		issued = time.Now()
	}
	claims := tokenClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: c.User, Issuer: c.Issuer,
			IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(issued.Add(ttl)),
		},
		Name: c.Name, Avatar: c.Avatar, Scope: c.Scope, Person: c.Person,
	}
	if c.Audience != "" {
		claims.Audience = jwt.ClaimStrings{c.Audience}
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return token, nil
}

// NewGuestID returns a new random user ID for a guest.
func NewGuestID() string { return chat.GuestPrefix + strings.ToLower(rand.Text()) }

// SignGuest returns a guest's token that is valid for ttl from its issue. key is GuestKeys.Key of the server.
func SignGuest(key []byte, guest chat.User, issued time.Time, ttl time.Duration) (string, error) {
	return Sign(key, Claims{User: guest.ID, Name: guest.Name, Issuer: guestIssuer, Issued: issued}, ttl)
}
