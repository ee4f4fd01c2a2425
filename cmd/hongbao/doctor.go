package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"hongbao/store"
	"hongbao/store/finding"
	"hongbao/web/user/auth"
)

// doctorTime bounds the checks of ports, hook and engines together. Fetching a key set of tokens has a timeout of its own.
const doctorTime = 30 * time.Second

// fewSockets is the number of sockets below which doctor warns, unless HONGBAO_MAX_SOCKETS is set. The usual limit of 1024 open
// files allows only 784.
const fewSockets = 1000

func doctorCommand() command {
	return command{name: "doctor", settings: "serve", summary: "check the settings and engines of a server, and say what to change; exits 1 if it could not serve safely",
		setup: func(flags *flag.FlagSet) func(context.Context, *program) error {
			asJSON := flags.Bool("json", false, "print JSON")
			return func(ctx context.Context, p *program) error {
				ctx, cancel := context.WithTimeout(ctx, doctorTime)
				defer cancel()
				found := p.config.examine(ctx)
				err := p.printFindings(found, *asJSON)
				if err == nil && finding.Failed(found) {
					err = errFailedCheck
				}
				return err
			}
		}}
}

// printFindings prints one line for each finding, or JSON.
func (p *program) printFindings(found []finding.Finding, asJSON bool) error {
	if asJSON {
		return p.printJSON(map[string]any{"ok": !finding.Failed(found), "findings": found})
	}
	for _, f := range found {
		text := fmt.Sprintf("%-4s  %s: %s", f.State, f.Part, f.Text)
		if f.Do != "" {
			text += " -> " + f.Do
		}
		if _, err := fmt.Fprintln(p.stdout, strings.ReplaceAll(text, "\n", "; ")); err != nil {
			return err
		}
	}
	return nil
}

// examine checks the settings. If they are right, it also checks this machine, the keys of tokens, the hook and the engines. It
// leaves nothing changed outside this process.
func (c *config) examine(ctx context.Context) []finding.Finding {
	settings := &finding.List{Part: "settings"}
	if err := c.checkServe(); err != nil {
		settings.Fail(err.Error(), "correct the setting; `hongbao help serve` lists all")
		return settings.All
	}
	settings.OK("they fit together")
	for _, danger := range c.dangers() {
		what, do, _ := cutLast(danger, ": ")
		settings.Warn(what, do)
	}
	if _, err := c.certificates(nil, slog.New(slog.DiscardHandler)); err != nil {
		settings.Fail(err.Error(), "name a certificate and its key that this user may read")
	}
	machine := &finding.List{Part: "machine"}
	c.examinePorts(ctx, machine)
	c.examineFiles(machine, openFiles())
	tokens := &finding.List{Part: "tokens"}
	c.examineTokens(tokens)
	host := &finding.List{Part: "host"}
	c.examineHook(ctx, host)
	all := slices.Concat(settings.All, machine.All, tokens.All, host.All)
	return append(all, store.Examine(ctx, c.engines())...)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// examinePorts checks that the address of each listener is free.
func (c *config) examinePorts(ctx context.Context, l *finding.List) {
	var open []net.Listener
	addresses := [][2]string{{"HONGBAO_ADDR", c.Addr}, {"HONGBAO_OPS_ADDR", c.OpsAddr}}
	if c.APIKeysFile != "" {
		addresses = append(addresses, [2]string{"HONGBAO_API_ADDR", c.APIAddr})
	}
	for _, a := range addresses {
		listener, err := listen(ctx, a[0], a[1])
		if err != nil {
			l.Fail(err.Error(), "stop the other program, unless it is this server, or choose another address")
			continue
		}
		open = append(open, listener)
		l.OK(a[0] + "=" + a[1] + " is free")
	}
	for _, listener := range open {
		_ = listener.Close()
	}
}

// examineFiles checks how many sockets the limit of open files allows.
func (c *config) examineFiles(l *finding.List, files int) {
	most := c.sockets(files)
	text := fmt.Sprintf("%d open files allow %d sockets", files, most)
	switch {
	case files == 0:
		l.OK("this system has no limit of open files that a program can read")
	case c.MaxSockets > int64(most):
		l.Warn(fmt.Sprintf("%s, fewer than HONGBAO_MAX_SOCKETS=%d", text, c.MaxSockets), "raise the limit (ulimit -n, or LimitNOFILE of systemd)")
	case c.MaxSockets == 0 && most < fewSockets:
		l.Warn(text, "raise the limit (ulimit -n, or LimitNOFILE of systemd)")
	default:
		l.OK(text)
	}
}

// examineHook checks that HONGBAO_HOOK_URL can be reached, if it is set.
func (c *config) examineHook(ctx context.Context, l *finding.List) {
	hooks, err := newHooks(*c, slog.New(slog.DiscardHandler))
	if err != nil || hooks == nil {
		return
	}
	if err := hooks.Reach(ctx); err != nil {
		l.Warn(fmt.Sprintf("HONGBAO_HOOK_URL: %v", err), "start it, or let this machine reach it: until then commands are carried out or refused as HONGBAO_HOOK_FAIL says")
		return
	}
	l.OK("HONGBAO_HOOK_URL is reachable")
}

// examineTokens checks that the keys at HONGBAO_JWT_JWKS_URL can be read. Other keys were read with the settings.
func (c *config) examineTokens(l *finding.List) {
	if c.JWTJWKSURL == "" {
		if from := c.tokens(); from != "" {
			l.OK("they are verified by " + from)
		}
		return
	}
	if err := auth.CheckKeySet(c.JWTJWKSURL); err != nil {
		l.Fail(fmt.Sprintf("HONGBAO_JWT_JWKS_URL: %v", err), "correct the URL, or let this machine reach it: without keys nobody can sign in")
		return
	}
	l.OK("HONGBAO_JWT_JWKS_URL is reachable and has keys")
}
