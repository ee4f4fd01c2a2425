package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store"
)

func creditCommand() command {
	return command{name: "credit", summary: "put money into a wallet from outside", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		user := fs.String("user", "", "id of the user, who need not have been seen before")
		amount := fs.Int64("amount", 0, "how much, in minor units")
		key := fs.String("key", "", "names this credit for ever: the same key again changes nothing")
		note := fs.String("note", "", "what it is for; the user sees it")
		actor := fs.String("actor", "command line", "who orders it, for auditors")
		reason := fs.String("reason", "", "why, for auditors")
		return func(ctx context.Context, p *program) error {
			switch {
			case *user == "":
				return errors.New("whose wallet? Say --user <id>")
			case *amount <= 0:
				return errors.New("how much? Say --amount <minor units>, more than 0")
			case *key == "":
				return errors.New("a credit needs a name, so that it is never booked twice: say --key <1 to 64 characters>")
			}
			return p.withKeyedBooks(ctx, func(books *store.Books) error {
				return p.credit(ctx, books, redpacket.AdjustRequest{
					User: *user, Amount: redpacket.Money(*amount), Key: *key, Note: *note, Actor: *actor, Reason: *reason,
				})
			})
		}
	}}
}

// credit calls the same service as the admin endpoint. So a key names one credit or debit, whether it came by the endpoint or by
// this command.
func (p *program) credit(ctx context.Context, books *store.Books, r redpacket.AdjustRequest) error {
	// A credit needs neither the pool nor rooms, and this process has no connections to push to.
	packets := redpacket.New(books.Ledger, nil, nil, chat.Discard{}, redpacket.Options{Log: p.log()})
	account, dup, err := packets.Adjust(ctx, r)
	switch {
	case errors.Is(err, chat.ErrKeyReused):
		return fmt.Errorf("key %q has named another credit or debit before: choose a new one", r.Key)
	case err != nil:
		return err
	}
	done := "credited"
	if dup {
		done = "credited before, nothing changed:"
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s %s, balance %s\n", r.User, done,
		p.config.Currency.format(int64(r.Amount)), p.config.Currency.format(int64(account.Balance)))
	return err
}
