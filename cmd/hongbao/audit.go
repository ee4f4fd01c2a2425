package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func auditCommand() command {
	return command{name: "audit", summary: "compare all books; exits 1 if anything differs", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		brief := fs.Bool("brief", false, "leave out the lines of the packets")
		asJSON := fs.Bool("json", false, "print JSON, amounts in minor units")
		saved := fs.String("heads", "", "file with heads of hash chains that were saved before: the answer of GET /v1/admin/heads, or lines of the log")
		return func(ctx context.Context, p *program) error {
			anchors, err := readHeads(*saved)
			if err != nil {
				return err
			}
			books, err := store.OpenAuditor(ctx, p.config.engines(), p.log())
			if err != nil {
				return explainNoBooks(err)
			}
			return errors.Join(p.audit(ctx, books, anchors, *brief, *asJSON), books.Close())
		}
	}}
}

// headInText finds heads in any text.
var headInText = regexp.MustCompile(`\b\d+/\d+/[0-9a-f]{64}\b`)

// readHeads reads saved heads from a file. With no name, there are none.
func readHeads(name string) (heads []redpacket.Head, err error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for _, found := range headInText.FindAllString(string(text), -1) {
		h, err := redpacket.ParseHead(found)
		if err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	if len(heads) == 0 {
		return nil, fmt.Errorf("%s has no heads: want chain/link/hash", name)
	}
	return heads, nil
}

// audited is the JSON report of an audit.
type audited struct {
	wire.AuditReply
	Lines []auditedPacket `json:"packet_lines,omitempty"`
}

// auditedPacket is the line of one packet.
type auditedPacket struct {
	Packet   string           `json:"packet"`
	Status   redpacket.Status `json:"status"`
	Total    redpacket.Money  `json:"total"`
	Count    int              `json:"count"`
	Claims   int              `json:"claims"`
	Claimed  redpacket.Money  `json:"claimed"`
	Refunded redpacket.Money  `json:"refunded"`
}

// audit prints the result of checking all books in one consistent snapshot. A server may run on the same database
// meanwhile.
func (p *program) audit(ctx context.Context, books store.Auditor, anchors []redpacket.Head, brief, asJSON bool) error {
	var lines []auditedPacket
	result, err := books.Audit(ctx, &redpacket.AuditQuery{Heads: anchors, Now: time.Now(), Show: func(l redpacket.AuditLine) {
		if !brief {
			lines = append(lines, auditedPacket(l))
		}
	}})
	if err != nil {
		return err
	}
	report := audited{AuditReply: convert.Audit(result), Lines: lines}
	if asJSON {
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		p.print(report.text(p.config.Currency))
	}
	if err == nil && !report.OK {
		err = errFailedCheck
	}
	return err
}

// text formats the report for a reader: packets first, the verdict last.
func (a audited) text(c currency) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, l := range a.Lines {
		line(table, "packet %s\t%s\ttotal %s\tclaimed %s\tby %d of %d\trefunded %s\n", l.Packet, l.Status,
			c.format(int64(l.Total)), c.format(int64(l.Claimed)), l.Claims, l.Count, c.format(int64(l.Refunded)))
	}
	_ = table.Flush() // a strings.Builder never fails
	line(table, "funded\t%s\n", c.format(a.Funded))
	line(table, "in wallets\t%s\tof %d people\n", c.format(a.InWallets), a.Wallets)
	line(table, "in open packets\t%s\tin %d of %d packets\n", c.format(a.InPackets), a.OpenPackets, a.Packets)
	line(table, "claims\t%d\n", a.Claims)
	line(table, "transfers\t%d\n", a.Transfers)
	line(table, "entries\t%d\tin %d rooms\n", a.Entries, a.Rooms)
	line(table, "quarantined\t%d\n", a.Quarantined)
	_ = table.Flush()
	for _, d := range a.Differences {
		line(&b, "DIFFERENCE %s %s: %s\n", d.Kind, d.ID, d.What)
	}
	if a.OK {
		line(&b, "the books balance\n")
	} else {
		line(&b, "%d differences\n", len(a.Differences))
	}
	return b.String()
}
