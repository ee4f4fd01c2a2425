package load

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hongbao/web/auth"
)

// Tokens has the tokens of the users. It either signs them with a secret, or holds ready ones.
type Tokens struct {
	Secret   string
	Issuer   string
	Audience string
	Ready    []string // one for each user
	Admin    string   // token with the scope hongbao:admin; without it users get no money, and the books are not checked
}

// tokenTTL is longer than any load.
const tokenTTL = 24 * time.Hour

// SecretTokens signs tokens.
func SecretTokens(secret, issuer, audience string) (Tokens, error) {
	p := Tokens{Secret: secret, Issuer: issuer, Audience: audience}
	admin, err := p.sign("load-admin", auth.DefaultAdminScope)
	p.Admin = admin
	return p, err
}

// FileTokens reads ready tokens, one a line.
func FileTokens(users, admin string) (p Tokens, err error) {
	text, err := os.ReadFile(users)
	if err != nil {
		return p, err
	}
	if p.Ready = strings.Fields(string(text)); len(p.Ready) == 0 {
		return p, fmt.Errorf("%s has no token", users)
	}
	if admin != "" {
		text, err = os.ReadFile(admin)
		p.Admin = strings.TrimSpace(string(text))
	}
	return p, err
}

func (p *Tokens) sign(user, scope string) (string, error) {
	return auth.Sign([]byte(p.Secret), auth.Claims{User: user, Scope: scope, Issuer: p.Issuer, Audience: p.Audience}, tokenTTL)
}

// user returns the id and token of a user of the run.
func (p *Tokens) user(run string, number int) (id, token string, err error) {
	if p.Ready == nil {
		id = fmt.Sprintf("load-%s-%d", run, number)
		token, err = p.sign(id, "")
		return id, token, err
	}
	if number >= len(p.Ready) {
		return "", "", fmt.Errorf("there are only %d tokens, and each user needs one", len(p.Ready))
	}
	token = p.Ready[number]
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", errors.New("malformed token")
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
