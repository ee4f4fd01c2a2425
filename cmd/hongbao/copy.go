package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"hongbao/store"
)

func copyCommand() command {
	return command{name: "copy", summary: "copy the embedded database into an empty Postgres database, with the server stopped", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			if !p.config.scaled() {
				return errors.New("where to? Set HONGBAO_DATABASE_URL to an empty Postgres database, as the role that migrates it; HONGBAO_DATA_DIR is what is copied")
			}
			found, key, err := store.Copy(ctx, p.config.engines(), p.log())
			if err != nil {
				return explainNoBooks(err)
			}
			p.print(fmt.Sprintf("copied: %d wallets, %d packets, %d transfers, %d entries in %d rooms; %d heads of hash chains and all sums are the same\n",
				found.Wallets, found.Packets, found.Transfers, found.Entries, found.Rooms, len(found.Heads)))
			if n := len(found.Differences); n > 0 {
				p.print(fmt.Sprintf("the audit finds the same %d differences in both: hongbao audit prints them\n", n))
			}
			p.printKeys(key)
			p.print("start the instances with these keys (HONGBAO_DATA_KEY_FILE, HONGBAO_GUEST_KEY_FILE), and never again a server on " + p.config.DataDir + "\n")
			return nil
		}
	}}
}
