package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"hongbao/web/user/auth"
)

// minSecret is the least number of bytes of an HS256 secret, and of the operator's token. It is the size of the hash: a shorter
// secret would be easier to guess than the hash.
const minSecret = 32

// setKey is the end of error messages: it tells the operator how to set the key of the host's tokens.
const setKey = "set HONGBAO_JWT_SECRET, HONGBAO_JWT_PUBLIC_KEY or HONGBAO_JWT_JWKS_URL, too"

// tokens returns the name of the setting with the key or the keys of the host's tokens. It returns "" if there is none: then
// only the program's own tokens of guests are accepted.
func (c *config) tokens() string {
	switch {
	case c.JWTSecret != "":
		return "HONGBAO_JWT_SECRET"
	case len(c.JWTPublicKey) > 0:
		return "HONGBAO_JWT_PUBLIC_KEY"
	case c.JWTJWKSURL != "":
		return "HONGBAO_JWT_JWKS_URL"
	}
	return ""
}

// jwt returns which tokens of the host are accepted.
func (c *config) jwt() auth.JWT {
	return auth.JWT{
		Secret: []byte(c.JWTSecret), PreviousSecret: []byte(c.JWTSecretOld), PublicKey: c.JWTPublicKey, JWKS: c.JWTJWKSURL,
		Issuer: c.JWTIssuer, Audience: c.JWTAudience, AdminScope: c.AdminScope,
	}
}

func (c *config) checkKeys() error {
	if err := c.checkSecret(); err != nil {
		return err
	}
	if err := c.jwt().Check(); err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(c.tokens(), "HONGBAO_JWT_ISSUER"), err)
	}
	switch {
	case c.tokens() == "" && c.JWTIssuer != "":
		return fmt.Errorf("HONGBAO_JWT_ISSUER=%s has no effect without a key of your tokens: %s", c.JWTIssuer, setKey)
	case c.tokens() == "" && c.JWTAudience != "":
		return fmt.Errorf("HONGBAO_JWT_AUDIENCE=%s has no effect without a key of your tokens: %s", c.JWTAudience, setKey)
	case strings.ContainsFunc(c.AdminScope, unicode.IsSpace):
		return fmt.Errorf("HONGBAO_ADMIN_SCOPE is %q: a scope has no spaces", c.AdminScope)
	case c.OpsToken != "" && len(c.OpsToken) < minSecret:
		return fmt.Errorf("HONGBAO_OPS_TOKEN has %d bytes and could be guessed: use at least %d, such as `openssl rand -hex 32` prints", len(c.OpsToken), minSecret)
	}
	return nil
}

func (c *config) checkSecret() error {
	if n := len(c.JWTSecret); n > 0 && n < minSecret {
		return fmt.Errorf("HONGBAO_JWT_SECRET has %d bytes and could be guessed: use at least %d, such as `openssl rand -hex 32` prints",
			n, minSecret)
	}
	return nil
}
