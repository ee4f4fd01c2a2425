// Command hongbao-bench compares hongbao with its peers, in the same run on the same machine. A peer is a published
// scheme or a usual way to do the same. In comments "ours" is hongbao. The subcommands load and abuse measure hongbao
// without a peer. Articles 1 to 3 are the publications of the schemes: see package schemes.
//
// It starts the private servers that it needs on loopback, and stops them. It must always hold: the figures of compare and
// load come with the checks of the result behind them (no user paid twice, sums as they should be, nothing lost). engines
// shows no figures if a check of its results has failed. A scheme gets the same servers and callers as ours in compare, and
// the settings that suit it best.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal stops in good order; a second one kills
	p := &program{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// program is one run of the command.
type program struct {
	stdout, stderr io.Writer
}

// command is one subcommand. Its setup declares its flags and returns the function that runs it.
type command struct {
	name    string
	summary string
	setup   func(fs *flag.FlagSet) func(ctx context.Context, p *program) error
}

// commands returns the subcommands in the order of the help.
func commands() []command {
	return []command{enginesCommand(), compareCommand(), loadCommand(), abuseCommand(), fillCommand(), searchCommand(), growthCommand(), speedCommand(), echoCommand(), fanoutCommand()}
}

// run executes the command line and returns the exit code: 0 done, 1 failed, 2 not understood.
func (p *program) run(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		p.help()
		return 0
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return p.execute(ctx, c, args[1:])
		}
	}
	p.say("hongbao-bench: unknown subcommand %q; `hongbao-bench help` lists all", args[0])
	return 2
}

func (p *program) execute(ctx context.Context, c command, args []string) int {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	do := c.setup(fs)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		p.help()
		return 0
	case err == nil && fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err != nil {
		p.say("hongbao-bench %s: %v; see `hongbao-bench help`", c.name, err)
		return 2
	}
	if err := do(ctx, p); err != nil {
		p.say("hongbao-bench %s: %v", c.name, err)
		return 1
	}
	return 0
}

func (p *program) help() {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(t, "hongbao-bench measures hongbao beside its peers.\n\nUsage: hongbao-bench <subcommand> [flags]\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(t, "\n  %s\t%s\n", c.name, c.summary)
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(fs)
		fs.VisitAll(func(f *flag.Flag) { _, _ = fmt.Fprintf(t, "    --%s\t%s%s\n", f.Name, f.Usage, shown(f.DefValue)) })
	}
	_, _ = fmt.Fprint(t, "\n  help\tprint this\n")
	_ = t.Flush() // there is no other place to report an error
}

// shown formats a default value, if it is worth showing.
func shown(fallback string) string {
	switch fallback {
	case "", "0", "false":
		return ""
	}
	return " (" + fallback + ")"
}

// say prints a message to standard error; results go to standard output. It ignores failures: there is nowhere to report them.
func (p *program) say(format string, args ...any) { _, _ = fmt.Fprintf(p.stderr, format+"\n", args...) }
