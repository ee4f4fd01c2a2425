package main

import (
	"errors"
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

func (l *loading) planFlags(fs *flag.FlagSet) {
	p := &l.plan
	fs.StringVar(&p.Scenario, "scenario", mixed, strings.Join(load.Scenarios, ", ")+", or a small one of each: "+mixed)
	fs.IntVar(&p.Users, "users", 1000, "users, each with a socket")
	fs.IntVar(&p.RoomSize, "room-size", 50, "chat, storm, many packets: users in a room")
	fs.IntVar(&p.Packets, "packets", 1, "grab: packets grabbed at the same time, spread over rooms; 1: hot ones in one room, one after the other; with --closed: so many of these")
	fs.IntVar(&p.Shares, "shares", 500, "grab: shares of a packet")
	fs.Float64Var(&p.Rate, "rate", 500, "grabs or messages a second, due at their times whatever became of those before")
	fs.BoolVar(&p.Closed, "closed", false, "no rate: each user the next when the last is answered")
	fs.IntVar(&p.Missed, "missed", 20, "storm: entries of each room while everybody is away")
	fs.DurationVar(&p.Ramp, "ramp", 5*time.Second, "in which the users come")
	fs.DurationVar(&p.Duration, "duration", 15*time.Second, "of the load")
	fs.Uint64Var(&p.Seed, "seed", 1, "who says and grabs what when")
}

func (l *loading) targetFlags(fs *flag.FlagSet) {
	fs.StringVar(&l.of.binary, "hongbao", "", "the program to start; empty: it is built")
	fs.BoolVar(&l.of.embedded, "embedded", false, "start it without Redis and Postgres")
	fs.IntVar(&l.of.instances, "instances", 1, "how many to start")
	fs.StringVar(&l.urls, "url", "", "instead of starting any: http://… of the instances that run, separated by commas")
	fs.StringVar(&l.secret, "jwt-secret", "", "of --url: the secret that tokens are signed with")
	fs.StringVar(&l.issuer, "jwt-issuer", "", "of --url: iss of the tokens")
	fs.StringVar(&l.audience, "jwt-audience", "", "of --url: aud of the tokens")
	fs.StringVar(&l.tokens, "token-file", "", "of --url: instead of a secret, a token of each user, one a line")
	fs.StringVar(&l.admin, "admin-token-file", "", "of --url: with --token-file, a token of scope admin: it gives users money and reads the books")
	fs.Var(&l.processes, "pid", "of --url: name=id of a process here that belongs to it (server=12, redis=34); may be repeated")
}

// processFlags are those of --pid.
type processFlags []load.Process

// String implements flag.Value.
func (f *processFlags) String() string { return "" }

// Set implements flag.Value.
func (f *processFlags) Set(text string) error {
	name, id, _ := strings.Cut(text, "=")
	pid, err := strconv.Atoi(id)
	if err != nil || name == "" || pid < 1 {
		return errors.New("it is no name=id")
	}
	*f = append(*f, load.Process{Name: name, PID: pid})
	return nil
}

// sameAgain is the command line, without what is secret or a matter of the place.
func sameAgain(fs *flag.FlagSet) string {
	words := []string{"hongbao-bench", fs.Name()}
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"jwt-secret", "redis-url", "database-url", "json", "html", "cpu-profiles", "hongbao", "pid"}, f.Name) {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return strings.Join(words, " ")
}
