package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"hongbao/cmd/hongbao-bench/load"
)

// check refuses wrong settings, and settings that do not go together, before anything is started.
func (l *loading) check(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	anyOf := func(names ...string) string {
		if i := slices.IndexFunc(names, func(name string) bool { return given[name] }); i >= 0 {
			return "--" + names[i]
		}
		return ""
	}
	if of := anyOf("users", "room-size", "packets", "shares", "rate", "closed", "missed", "ramp", "duration"); of != "" && l.plan.Scenario == mixed {
		return fmt.Errorf("%s needs one --scenario of %s", of, strings.Join(load.Scenarios, ", "))
	}
	if l.plan.Scenario != mixed && !slices.Contains(load.Scenarios, l.plan.Scenario) {
		return fmt.Errorf("--scenario: unknown scenario %q", l.plan.Scenario)
	}
	if of := anyOf("jwt-secret", "jwt-issuer", "jwt-audience"); of != "" && l.urls == "" {
		return fmt.Errorf("%s needs --url", of)
	}
	own := anyOf("hongbao", "embedded", "citus", "instances")
	switch {
	case own != "" && l.urls != "":
		return fmt.Errorf("%s cannot be combined with --url", own)
	case l.urls != "" && l.secret == "":
		return errors.New("--url needs --jwt-secret")
	case l.of.instances < 1:
		return errors.New("--instances must be at least 1")
	case l.of.embedded && l.of.instances > 1:
		return errors.New("--embedded allows one instance only")
	case l.of.embedded && l.of.citus:
		return errors.New("--embedded has no Postgres, so it cannot be combined with --citus")
	}
	for _, p := range l.plans() {
		if err := p.Check(); err != nil {
			return err
		}
	}
	return nil
}
