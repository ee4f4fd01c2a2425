package load

import (
	"fmt"
	"time"

	"hongbao/web/auth"
)

// Tokens signs the tokens of the users.
type Tokens struct {
	Secret   string
	Issuer   string
	Audience string
	Admin    string // token with the scope hongbao:admin
}

// tokenTTL is longer than a load should take.
const tokenTTL = 24 * time.Hour

// SecretTokens returns Tokens that sign with the secret. Their admin token is signed already.
func SecretTokens(secret, issuer, audience string) (Tokens, error) {
	p := Tokens{Secret: secret, Issuer: issuer, Audience: audience}
	admin, err := p.sign("load-admin", auth.DefaultAdminScope)
	p.Admin = admin
	return p, err
}

func (p *Tokens) sign(user, scope string) (string, error) {
	return auth.Sign([]byte(p.Secret), auth.Claims{User: user, Scope: scope, Issuer: p.Issuer, Audience: p.Audience}, tokenTTL)
}

// user returns the id and token of a user of the run.
func (p *Tokens) user(run string, number int) (id, token string, err error) {
	id = fmt.Sprintf("load-%s-%d", run, number)
	token, err = p.sign(id, "")
	return id, token, err
}
