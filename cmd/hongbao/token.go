package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"hongbao/web/user/auth"
)

func tokenCommand() command {
	return command{name: "token", summary: "mint a token for testing", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		user := fs.String("user", "", "id of the user: 1 to 64 of A-Za-z0-9_.:@-")
		name := fs.String("name", "", "name that others see; empty: the id")
		ttl := fs.Duration("ttl", time.Hour, "how long it is good")
		scope := fs.String("scope", "", "what it may do besides; "+auth.DefaultAdminScope+": the admin endpoints")
		return func(_ context.Context, p *program) error {
			switch {
			case *user == "":
				return errors.New("whose token? Say --user <id>")
			case p.config.JWTSecret == "":
				return errors.New("nothing to sign with: set HONGBAO_JWT_SECRET (or …_FILE) to the server's")
			case *ttl <= 0:
				return errors.New("--ttl must be more than 0, such as 1h")
			}
			if err := p.config.checkSecret(); err != nil {
				return err
			}
			token, err := auth.Sign([]byte(p.config.JWTSecret), auth.Claims{
				User: *user, Name: *name, Scope: *scope, Issuer: p.config.JWTIssuer, Audience: p.config.JWTAudience,
			}, *ttl)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.stdout, token)
			return err
		}
	}}
}
