package load

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hongbao/web"
)

// Passes are the tokens that users show. Either a secret is known, to sign as many as are needed, or there are ready ones.
type Passes struct {
	Secret   string
	Issuer   string
	Audience string
	Ready    []string // one a user
	Admin    string   // token with the scope admin; without one nobody gets money, and the books are not read
}

// passTTL is longer than any load.
const passTTL = 24 * time.Hour

// SecretPasses signs tokens.
func SecretPasses(secret, issuer, audience string) (Passes, error) {
	p := Passes{Secret: secret, Issuer: issuer, Audience: audience}
	admin, err := p.sign("load-admin", "admin")
	p.Admin = admin
	return p, err
}

// FilePasses reads ready tokens, one a line.
func FilePasses(users, admin string) (p Passes, err error) {
	text, err := os.ReadFile(users)
	if err != nil {
		return p, err
	}
	if p.Ready = strings.Fields(string(text)); len(p.Ready) == 0 {
		return p, fmt.Errorf("%s holds no token", users)
	}
	if admin != "" {
		text, err = os.ReadFile(admin)
		p.Admin = strings.TrimSpace(string(text))
	}
	return p, err
}

func (p *Passes) sign(user, scope string) (string, error) {
	return web.MintToken([]byte(p.Secret), web.Claims{User: user, Scope: scope, Issuer: p.Issuer, Audience: p.Audience}, passTTL)
}

// user is the token of one of the run's users, and the id that is in it.
func (p *Passes) user(run string, number int) (id, token string, err error) {
	if p.Ready == nil {
		id = fmt.Sprintf("load-%s-%d", run, number)
		token, err = p.sign(id, "")
		return id, token, err
	}
	if number >= len(p.Ready) {
		return "", "", fmt.Errorf("there are only %d tokens", len(p.Ready))
	}
	token = p.Ready[number]
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", errors.New("what should be a token is none")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", "", fmt.Errorf("token %d: %w", number, err)
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		return "", "", fmt.Errorf("token %d: %w", number, err)
	}
	return claims.Subject, token, nil
}
