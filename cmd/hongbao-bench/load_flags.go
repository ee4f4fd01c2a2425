package main

import (
	"flag"
	"slices"
	"strings"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

func (l *loading) planFlags(fs *flag.FlagSet) {
	p := &l.plan
	fs.StringVar(&p.Scenario, "scenario", mixed, strings.Join(load.Scenarios, ", ")+", or a small load of each: "+mixed)
	fs.IntVar(&p.Users, "users", 1000, "users, each with a socket")
	fs.IntVar(&p.RoomSize, "room-size", 50, "chat, storm, many packets: users in a room")
	fs.IntVar(&p.Packets, "packets", 1, "grab: packets grabbed at the same time, spread over rooms; 1: hot packets in one room, one after the other; with --closed: number of these")
	fs.IntVar(&p.Shares, "shares", 500, "grab: shares of a packet")
	fs.Float64Var(&p.Rate, "rate", 500, "grabs or messages a second; each is due at its time, whether earlier ones are answered or not")
	fs.BoolVar(&p.Closed, "closed", false, "no rate: each user sends the next request when the last one is answered")
	fs.IntVar(&p.Missed, "missed", 20, "storm: entries of each room while all users are disconnected")
	fs.DurationVar(&p.Ramp, "ramp", 5*time.Second, "time over which the users connect")
	fs.DurationVar(&p.Duration, "duration", 15*time.Second, "duration of the load")
	fs.Uint64Var(&p.Seed, "seed", 1, "seed of the users' actions")
}

func (l *loading) targetFlags(fs *flag.FlagSet) {
	fs.StringVar(&l.of.binary, "hongbao", "", "path of the program to start; empty: it is built")
	fs.BoolVar(&l.of.embedded, "embedded", false, "start it without Redis and Postgres")
	fs.BoolVar(&l.of.citus, "citus", false, "start it with a Citus coordinator and two workers instead of one Postgres")
	fs.IntVar(&l.of.instances, "instances", 1, "number of instances to start")
	fs.StringVar(&l.urls, "url", "", "instead of starting instances: http://… of running ones, separated by commas")
	fs.StringVar(&l.secret, "jwt-secret", "", "with --url: the secret that signs the tokens")
	fs.StringVar(&l.issuer, "jwt-issuer", "", "with --url: iss of the tokens")
	fs.StringVar(&l.audience, "jwt-audience", "", "with --url: aud of the tokens")
}

// sameAgain returns the command line that repeats this run, without secrets and paths.
func sameAgain(fs *flag.FlagSet) string {
	words := []string{"hongbao-bench", fs.Name()}
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"jwt-secret", "json", "html", "cpu-profiles", "hongbao"}, f.Name) {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return strings.Join(words, " ")
}
