package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/load"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/redpacket"
)

// compare holds the settings of the subcommand compare. It runs the published schemes and ours on the same workload. With
// --flaws, it reproduces the published flaws instead.
type compare struct {
	callers, packets, shares int
	seed                     uint64
	hot, flaws               bool
	only                     string
	budget                   time.Duration
	json, html               string // names of files to write
	command                  string // command line that repeats this run

	connections  int           // to Postgres, for each process of a scheme; the pool of Redis connections is slightly larger
	placePackets int           // packets by which the mean share of each rank is measured
	limit        time.Duration // time from the opening to the deadline of the packets that the refund check lets expire
	late         time.Duration // how long after its deadline such a packet may be refunded

	say func(format string, args ...any)
}

// defaultCompare returns the workload of article 2, as far as the article says it.
func defaultCompare() *compare {
	return &compare{
		callers: 20, packets: 1, shares: 100_000, seed: 1, budget: 5 * time.Second,
		connections: peerConnections, placePackets: 100, limit: 2 * time.Second, late: 3 * time.Second,
	}
}

func compareCommand() command {
	return command{name: "compare", summary: "run the published schemes and ours: speed, and which promises each keeps", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		c := defaultCompare()
		fs.IntVar(&c.callers, "callers", c.callers, "number of concurrent callers")
		fs.IntVar(&c.packets, "packets", c.packets, "number of packets open at the same time")
		fs.IntVar(&c.shares, "shares", c.shares, "shares of each packet")
		fs.Uint64Var(&c.seed, "seed", c.seed, "seed of the cut and of the repeated grabs")
		fs.BoolVar(&c.hot, "hot", false, "instead: one packet of 1000 shares and 20,000 users")
		fs.BoolVar(&c.flaws, "flaws", false, "instead: reproduce each published flaw, and run the same on ours; fails if a flaw is not reproduced or ours has it")
		fs.StringVar(&c.only, "only", "", "run only these schemes, separated by commas: "+strings.Join(namesOf(contenders(nil)), ", ")+"; with --flaws, these flaws")
		fs.DurationVar(&c.budget, "budget", c.budget, "time that each scheme has to grab; a slow scheme does less, and the report says so")
		fs.StringVar(&c.json, "json", "", "write the results to this file")
		fs.StringVar(&c.html, "html", "", "write a report with charts to this file")
		return func(ctx context.Context, p *program) error {
			c.say, c.command = p.say, sameAgain(fs)
			return c.run(ctx, p)
		}
	}}
}

// check validates the flags.
func (c *compare) check() error {
	switch {
	case c.callers < 1 || c.packets < 1 || c.shares < 1:
		return errors.New("--callers, --packets and --shares must be at least 1")
	case c.packets > 10_000_000/c.shares:
		return errors.New("--packets times --shares must be at most 10,000,000")
	case c.callers > 10_000:
		return errors.New("--callers must be at most 10,000")
	case c.budget <= 0:
		return errors.New("--budget must be more than 0")
	case c.hot && c.flaws:
		return errors.New("--hot and --flaws exclude each other: give one of them")
	}
	return nil
}

func (c *compare) run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	result := Comparison{Began: time.Now(), Seed: c.seed, Machine: load.ThisMachine().String()}
	_, err := onTestbed(func(s *testbed) (struct{}, error) {
		if c.flaws {
			return struct{}{}, c.showFlaws(ctx, p, s, &result)
		}
		return struct{}{}, c.race(ctx, p, s, &result)
	})
	result.Seconds = time.Since(result.Began).Seconds()
	if len(result.Outcomes)+len(result.Flaws) == 0 {
		return err
	}
	if c.json != "" {
		err = errors.Join(err, writeJSON(c.json, result))
	}
	if c.html != "" {
		err = errors.Join(err, writePage(c.html, result.page(c.command)))
	}
	return err
}

func writeJSON(name string, result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(name, append(text, '\n'))
}

// workload describes the packets and grabs that every scheme has to handle.
type workload struct {
	name     string // prefix of the packets' ids
	callers  int
	packets  int
	shares   int // of each packet
	grabbers int // users that grab each packet
	mean     int64
	seed     uint64
	ttl      time.Duration
}

// shareOnAverage is the mean share in minor units.
const shareOnAverage = 100

// attempt is a grab of one user for one packet.
type attempt struct{ packet, user int }

// String describes the workload for reports.
func (w workload) String() string {
	return fmt.Sprintf("%d callers; packets: %d, of %d shares; %d users grab each", w.callers, w.packets, w.shares, w.grabbers)
}

// id returns the id of the n-th packet.
func (w workload) id(n int) string { return w.name + "-" + strconv.Itoa(n) }

// packet returns the n-th packet. Its shares are cut as redpacket cuts them, and equal in each run with the same seed.
// Schemes that cut by themselves use only their sum and number.
func (w workload) packet(n int) (schemes.Packet, error) {
	var seed redpacket.Seed
	binary.BigEndian.PutUint64(seed[:], w.seed)
	binary.BigEndian.PutUint64(seed[8:], uint64(n))
	shares, err := redpacket.Cut(seed, redpacket.Packet{
		From: chat.User{ID: "sender"}, Key: w.id(n), Mode: redpacket.Lucky, Spread: redpacket.Classic,
		Total: redpacket.Money(w.mean) * redpacket.Money(w.shares), Count: w.shares,
	})
	p := schemes.Packet{ID: w.id(n), Sender: "sender", TTL: w.ttl}
	for _, s := range shares {
		p.Shares = append(p.Shares, int64(s))
	}
	return p, err
}

// all returns all packets.
func (w workload) all() ([]schemes.Packet, error) {
	packets := make([]schemes.Packet, w.packets)
	for n := range packets {
		var err error
		if packets[n], err = w.packet(n); err != nil {
			return nil, err
		}
	}
	return packets, nil
}

// members returns the number of users of all packets. With many packets it is so large that grabs at about the same
// time are of different users: no wallet is hot.
func (w workload) members() int {
	if w.packets == 1 {
		return w.grabbers
	}
	return max(w.grabbers, 10_000)
}

// grabber returns the n-th user that grabs the packet.
func (w workload) grabber(packet, n int) attempt {
	return attempt{packet, (n + 101*packet) % w.members()}
}

// repeats says how many grabs are sent twice in a row: on average one grab in this many.
const repeats = 50

// attempts returns the grabs in order. For each packet, as many users as grabbers says grab it once, some of them twice in a
// row. At the end the first user of each packet grabs it again.
func (w workload) attempts() []attempt {
	r := rand.New(rand.NewPCG(w.seed, 0))
	var all []attempt
	for n := range w.grabbers {
		for packet := range w.packets {
			all = append(all, w.grabber(packet, n))
			if r.IntN(repeats) == 0 {
				all = append(all, w.grabber(packet, n))
			}
		}
	}
	for packet := range w.packets {
		all = append(all, w.grabber(packet, 0))
	}
	return all
}

// workload returns the workload that the flags ask for.
func (c *compare) workload() workload {
	w := workload{name: "packet", callers: c.callers, packets: c.packets, shares: c.shares, grabbers: c.shares, mean: shareOnAverage, seed: c.seed, ttl: time.Hour}
	if c.hot {
		w.packets, w.shares, w.grabbers = 1, 1000, 20_000
	}
	return w
}

// race runs the same workload on the chosen schemes, one after the other.
func (c *compare) race(ctx context.Context, p *program, s *testbed, result *Comparison) error {
	chosen, err := choose(c.only, contenders(s.log), func(n schemes.Named) string { return n.Name })
	if err != nil {
		return err
	}
	all, err := startServers(ctx, s, c.connections)
	if err != nil {
		return err
	}
	w := c.workload()
	result.Workload = w.String()
	for _, scheme := range chosen {
		outcomes, err := contest{compare: c, scheme: scheme, servers: all}.outcomes(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", scheme.Name, err)
		}
		result.Outcomes = append(result.Outcomes, outcomes...)
	}
	p.say("%d schemes in %v; %s", len(chosen), time.Since(result.Began).Round(time.Second), result.Workload)
	return raceTable(p.stdout, result.Outcomes)
}

// contenders returns the published schemes and ours.
func contenders(log *slog.Logger) []schemes.Named {
	return append(schemes.All(), oursPool(log), oursService(log))
}

func namesOf(all []schemes.Named) (names []string) {
	for _, n := range all {
		names = append(names, n.Name)
	}
	return names
}

// choose returns the items whose names are in the text of --only, separated by commas. It returns all items if the text is empty,
// and an error if a name is unknown.
func choose[T any](only string, all []T, name func(T) string) ([]T, error) {
	if only == "" {
		return all, nil
	}
	var chosen []T
	for wanted := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(t T) bool { return name(t) == wanted })
		if i < 0 {
			return nil, fmt.Errorf("--only: unknown name %q", wanted)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
