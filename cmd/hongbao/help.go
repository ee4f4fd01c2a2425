package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// help prints all subcommands and settings, or one subcommand in detail.
func (p *program) help(args []string) int {
	if len(args) == 0 {
		p.print(overview())
		return 0
	}
	cmd, ok := findCommand(args[0])
	if !ok {
		p.complain(fmt.Errorf("there is no subcommand %q; `hongbao help` lists them", args[0]))
		return 2
	}
	p.print(detail(cmd))
	return 0
}

// print writes to standard output. It ignores failures: there is nowhere to report them.
func (p *program) print(text string) { _, _ = io.WriteString(p.stdout, text) }

func overview() string {
	var b strings.Builder
	b.WriteString("hongbao is a group chat with red packets.\n\nUsage: hongbao [subcommand] [flags]\n\n")
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for i, c := range commands() {
		summary := c.summary
		if i == 0 {
			summary += " (the default)"
		}
		line(table, "  %s\t%s\n", c.name, summary)
	}
	line(table, "  help\tthis, or `hongbao help <subcommand>`\n")
	line(table, "\nSettings: flags, or variables of the environment; flags win. Commas separate the items of a list.\n\n")
	for _, s := range new(config).settings() {
		line(table, "  %s\t%s\t%s\n", s.flagName(), s.env, s.describe())
	}
	_ = table.Flush() // a strings.Builder never fails
	return b.String()
}

// flagName returns the flag with its dashes, or "" if the setting has none.
func (s setting) flagName() string {
	if s.secret == "value" {
		return ""
	}
	return "--" + s.flag
}

func detail(cmd command) string {
	var b strings.Builder
	line(&b, "hongbao %s: %s\n\n", cmd.name, cmd.summary)
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	cmd.setup(fs)
	fs.VisitAll(func(f *flag.Flag) { line(table, "  --%s\t\t%s\n", f.Name, withDefault(f.Usage, f.DefValue)) })
	for _, s := range new(config).settings() {
		if slices.Contains(s.commands, cmd.settingsOf()) {
			line(table, "  %s\t%s\t%s\n", s.flagName(), s.env, s.describe())
		}
	}
	_ = table.Flush() // a strings.Builder never fails
	return b.String()
}

// describe returns the setting's help with its default.
func (s setting) describe() string {
	if s.fromFile {
		return s.help
	}
	return withDefault(s.help, s.fallback)
}

func withDefault(help, fallback string) string {
	switch fallback {
	case "", "0", "false":
		return help
	}
	return help + " (" + fallback + ")"
}

// line writes a formatted text to w, which must be in memory: it ignores failures.
func line(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
