package main

import (
	"cmp"
	"fmt"

	"hongbao/web"
)

// minSecret is how long an HS256 secret must be to be as strong as its name.
const minSecret = 32

// tokens names the setting of the host's keys; empty: his tokens are not believed.
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

// jwt says which tokens of the host are believed.
func (c *config) jwt() web.JWT {
	return web.JWT{
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
