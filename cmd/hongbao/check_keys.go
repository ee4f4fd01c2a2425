package main

import (
	"cmp"
	"fmt"

	"hongbao/web/auth"
)

// minSecret is the least number of bytes of an HS256 secret. A shorter secret is easier to guess than the hash.
const minSecret = 32

// tokens returns the name of the setting that says which issuer's tokens are accepted. It returns "" if only the
// program's own guest tokens are.
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

// jwt returns which tokens of other issuers are accepted.
func (c *config) jwt() auth.JWT {
	return auth.JWT{
		Secret: []byte(c.JWTSecret), PublicKey: c.JWTPublicKey, JWKS: c.JWTJWKSURL, Issuer: c.JWTIssuer, Audience: c.JWTAudience,
	}
}

func (c *config) checkKeys() error {
	if err := c.checkSecret(); err != nil {
		return err
	}
	if err := c.jwt().Check(); err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(c.tokens(), "HONGBAO_JWT_ISSUER"), err)
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
