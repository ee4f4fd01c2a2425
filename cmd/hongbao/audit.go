package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func auditCommand() command {
	return command{name: "audit", summary: "compare all books; exits 1 if anything differs", setup: func(flags *flag.FlagSet) func(context.Context, *program) error {
		brief := flags.Bool("brief", false, "leave out the lines of the packets")
		asJSON := flags.Bool("json", false, "print JSON, amounts in minor units")
		saved := flags.String("heads", "", "file with heads of hash chains that were saved before: the answer of GET /v1/admin/heads, or lines of the log")
		withFiles := flags.String("with-files", "", "compare the files with the object store, too: names, or content, which reads all of them")
		remove := flags.Bool("remove-unneeded", false, "with --with-files: remove objects older than a day that no file needs, instead of naming them")
		checkpoint := flags.String("checkpoint", "", "file that says up to where the last audit has found no difference: only newer rows are looked at, and it is written again. Without the file, all rows are")
		return func(ctx context.Context, p *program) error {
			if *remove && *withFiles == "" {
				return errors.New("--remove-unneeded needs --with-files=names or content")
			}
			anchors, err := readHeads(*saved)
			if err != nil {
				return err
			}
			since, err := readCheckpoint(*checkpoint)
			if err != nil {
				return err
			}
			books, err := store.OpenAuditor(ctx, p.config.engines(), p.log())
			if err != nil {
				return explainNoBooks(err)
			}
			report, err := p.audit(ctx, books, anchors, since, *brief)
			if err == nil && *withFiles != "" {
				err = p.auditFiles(ctx, &report, *withFiles, *remove)
			}
			if err == nil {
				err = p.printReport(report, *asJSON)
			}
			switch {
			case err == nil && !report.OK:
				err = errFailedCheck
			case err == nil && *checkpoint != "":
				err = writeCheckpoint(*checkpoint, report.checkpoint)
			}
			return errors.Join(err, books.Close())
		}
	}}
}

func (p *program) printReport(report audited, asJSON bool) error {
	if asJSON {
		return p.printJSON(report)
	}
	p.print(report.text(p.config.Currency))
	return nil
}

// readCheckpoint reads a file that writeCheckpoint has written. With no name or no file, it returns the zero value.
func readCheckpoint(name string) (c redpacket.Checkpoint, err error) {
	if name == "" {
		return c, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && len(c.Heads) == 0 {
		err = errors.New("it has no heads")
	}
	if err != nil {
		return c, fmt.Errorf("read checkpoint %s: %w; remove the file to audit all rows", name, err)
	}
	return c, nil
}

// writeCheckpoint replaces the file durably: after a crash it has the old checkpoint or the new one.
func writeCheckpoint(name string, c redpacket.Checkpoint) error {
	if len(c.Heads) == 0 {
		return nil // an empty database
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := writeDurably(name, string(text)+"\n"); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// headInText matches the head of a hash chain in any text, in the form chain/link/hash.
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

// audited is the report of an audit. It is printed as JSON, or as text.
type audited struct {
	wire.AuditReply
	Lines []auditedPacket `json:"packet_lines,omitempty"`

	Files *files.Examined `json:"files,omitempty"` // nil: not looked at

	checkpoint redpacket.Checkpoint // for the next audit
	newer      bool                 // only rows newer than a checkpoint were looked at
}

// auditFiles compares the files with the object store, and adds what it finds to the report. With remove, it removes objects that no file needs.
func (p *program) auditFiles(ctx context.Context, report *audited, what string, remove bool) error {
	if what != "names" && what != "content" {
		return fmt.Errorf("--with-files is %q: want names or content", what)
	}
	found, err := store.ExamineFiles(ctx, p.config.engines(), files.Examining{Content: what == "content", RemoveUnneeded: remove}, p.log(), func(name, what string) {
		report.OK = false
		report.Differences = append(report.Differences, wire.Difference{Kind: "file", ID: name, What: what})
	})
	report.Files = &found
	return err
}

// auditedPacket is what the report shows of one packet, in one line.
type auditedPacket struct {
	Packet   string           `json:"packet"`
	Status   redpacket.Status `json:"status"`
	Total    redpacket.Money  `json:"total"`
	Count    int              `json:"count"`
	Claims   int              `json:"claims"`
	Claimed  redpacket.Money  `json:"claimed"`
	Refunded redpacket.Money  `json:"refunded"`
}

// audit checks the books in one consistent snapshot. Citus has no snapshot over all nodes: if an audit there finds differences,
// a second one runs, and only the differences that both have found count. A server may run on the same database meanwhile.
func (p *program) audit(ctx context.Context, books store.Auditor, anchors []redpacket.Head, since redpacket.Checkpoint, brief bool) (audited, error) {
	var lines []auditedPacket
	now := time.Now()
	result, err := books.Audit(ctx, &redpacket.AuditQuery{Heads: anchors, Since: since.Heads, Now: now, Show: func(l redpacket.AuditLine) {
		if !brief {
			lines = append(lines, auditedPacket(l))
		}
	}})
	if err != nil {
		return audited{}, err
	}
	next := since.After(now, result)
	reply := convert.Audit(redpacket.AuditReport{Audit: result, At: now, Checkpoint: next})
	return audited{AuditReply: reply, Lines: lines, checkpoint: next, newer: len(since.Heads) > 0}, nil
}

func (p *program) printJSON(report any) error {
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
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
	if a.Files != nil {
		line(table, "files\t%d\twith %d objects of %d bytes, in %d texts; %d bytes count to HONGBAO_FILES_BYTES\n", a.Files.Files, a.Files.Objects, a.Files.Bytes, a.Files.Entries, a.Files.Counted)
		if a.Files.Removed > 0 {
			line(table, "removed\t%d\tobjects that no file needs\n", a.Files.Removed)
		}
	}
	_ = table.Flush()
	for _, n := range a.Notes {
		line(&b, "NOTE %s %s: %s\n", n.Kind, n.ID, n.What)
	}
	for _, d := range a.Differences {
		line(&b, "DIFFERENCE %s %s: %s\n", d.Kind, d.ID, d.What)
	}
	if a.OK {
		if a.newer {
			line(&b, "looked only at what is newer than the checkpoint; all rows were last looked at %s\n", time.UnixMilli(a.WholeAt).UTC().Format(time.RFC3339))
		}
		line(&b, "the books balance\n")
	} else {
		line(&b, "%d differences\n", len(a.Differences))
	}
	return b.String()
}
