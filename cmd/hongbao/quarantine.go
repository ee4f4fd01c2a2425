package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store"
)

func quarantineCommand() command {
	return command{name: "quarantine", settings: "credit", summary: "list claims that could not be paid, and pay them again", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		retry := fs.Bool("retry", false, "settle each claim again that is unpaid")
		return func(ctx context.Context, p *program) error {
			return p.withKeyedBooks(ctx, func(books *store.Books) error { return p.quarantine(ctx, books, *retry) })
		}
	}}
}

// quarantinePage is how many claims quarantine reads at a time.
const quarantinePage = 500

// quarantine prints the claims in quarantine. With retry, it first settles those again that are unpaid. If one cannot be tried, because
// the database is out of reach, it stops with the error: the command may be run again.
func (p *program) quarantine(ctx context.Context, books *store.Books, retry bool) error {
	// To settle a claim needs neither the pool nor rooms, and this process has no connections to push to.
	packets := redpacket.New(books.Ledger, nil, nil, chat.Discard{}, redpacket.Options{Log: p.log()})
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	line(table, "no\tat\tpacket\tshare\tuser\tstate\twhy\n")
	paid, unpaid, failed := 0, 0, error(nil)
	for after, more := int64(0), true; more && failed == nil; {
		page, err := packets.Quarantined(ctx, after, quarantinePage)
		if err != nil {
			return err
		}
		for _, q := range page {
			if retry && q.State == redpacket.QuarantineUnpaid && failed == nil {
				var now redpacket.Quarantined
				if now, failed = packets.RetryQuarantined(ctx, q.ID); failed == nil {
					q = now
				}
				if failed == nil && q.State == redpacket.QuarantinePaid {
					paid++
				}
			}
			if q.State == redpacket.QuarantineUnpaid {
				unpaid++
			}
			line(table, "%d\t%s\t%s\t%d\t%s\t%s\t%s\n", q.ID, q.At.UTC().Format(time.RFC3339), q.Packet, q.Share, q.User, q.State, q.Why)
			after = q.ID
		}
		more = len(page) == quarantinePage
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if retry {
		_, _ = fmt.Fprintf(p.stdout, "paid now: %d\n", paid)
	}
	_, _ = fmt.Fprintf(p.stdout, "still unpaid: %d\n", unpaid)
	return failed
}
