package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// program is one run of the command: its input, output and settings.
type program struct {
	environ        []string
	stdin          io.Reader
	stdout, stderr io.Writer

	config config
}

// command is one subcommand. Its setup declares its own flags and returns the function that runs it.
type command struct {
	name     string
	verb     string // a word that may follow the name; "": none
	summary  string
	settings string // the command whose settings it uses; empty: its own
	setup    func(fs *flag.FlagSet) func(ctx context.Context, p *program) error
}

// commands returns the subcommands in the order of help; the first is the default.
func commands() []command {
	return []command{
		serveCommand(), doctorCommand(), migrateCommand(), auditCommand(), creditCommand(), quarantineCommand(), restoredCommand(), backupCommand(), vacuumCommand(), copyCommand(), importCommand(), exportCommand(), slackCommand(), datakeyCommand(), apikeyCommand(), tokenCommand(), verifyCommand(), versionCommand(),
	}
}

// errFailedCheck is the error of a command that has printed the reason itself: the program prints nothing more and exits with code 1.
var errFailedCheck = errors.New("check failed")

// run executes the command line and returns the exit code: 0 success, 1 failure, 2 if the command line or a setting cannot be
// understood.
func (p *program) run(ctx context.Context, args []string) int {
	name, named := commands()[0].name, false
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, named, args = args[0], true, args[1:]
	}
	if name == "help" {
		return p.help(args)
	}
	cmd, ok := findCommand(name)
	if !ok {
		p.complain(fmt.Errorf("there is no subcommand %q; `hongbao help` lists them", name))
		return 2
	}
	if len(args) > 0 && args[0] == cmd.verb && cmd.verb != "" {
		args = args[1:]
	}
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	do := cmd.setup(fs)
	err := p.config.load(fs, cmd.settingsOf(), args, p.environ)
	switch {
	case errors.Is(err, flag.ErrHelp) && !named:
		return p.help(nil) // hongbao --help
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{name})
	case err != nil:
		p.complain(fmt.Errorf("%w\n`hongbao help %s` shows how it is used", err, name))
		return 2
	}
	if err := do(ctx, p); err != nil {
		if !errors.Is(err, errFailedCheck) {
			p.complain(err)
		}
		return 1
	}
	return 0
}

// settingsOf returns the name by which the tags of config list the settings that the command uses.
func (c command) settingsOf() string { return cmp.Or(c.settings, c.name) }

func findCommand(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// complain prints an error. It ignores failures: there is nowhere to report them.
func (p *program) complain(err error) { _, _ = fmt.Fprintln(p.stderr, "hongbao:", err) }

func (p *program) log() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(p.config.LogLevel)}
	if p.config.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}
