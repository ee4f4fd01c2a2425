package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/enginetest"
)

func TestCompareNotUnderstood(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"compare --fast", 2, "fast"},
		{"compare lua-split", 2, "lua-split"},
		{"compare --only pool,door", 1, "door"},
		{"compare --flaws --only lua-split", 1, "lua-split"},
		{"compare --callers 0", 1, "--callers"},
		{"compare --callers 10001", 1, "--callers"},
		{"compare --shares 0", 1, "--shares"},
		{"compare --packets 1000 --shares 1000000", 1, "--packets"},
		{"compare --packets 9000000000000000000 --shares 4", 1, "--packets"},
		{"compare --budget 0s", 1, "--budget"},
		{"compare --hot --flaws", 1, "exclude"},
	} {
		code, out, said := run(t, strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, %q, %q", c.args, code, out, said)
		}
	}
}

// small returns a comparison of the schemes named in only that takes seconds.
func small(only string) (*compare, *program, *bytes.Buffer) {
	var out, said bytes.Buffer
	c := defaultCompare()
	c.only, c.callers, c.connections, c.shares, c.budget, c.placePackets = only, 4, 4, 60, 6*time.Second, 2
	c.limit, c.late = 2*time.Second, 4*time.Second
	p := &program{stdout: &out, stderr: &said}
	c.say = p.say
	return c, p, &out
}

// TestCompare runs some schemes at small scale, from the flags to the file, and checks their verdicts.
func TestCompare(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Redis and Postgres")
	c, p, out := small("lua-split,lua-list,hongbao")
	c.json = filepath.Join(t.TempDir(), "compare.json")
	if err := c.run(t.Context(), p); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	var result Comparison
	text, err := os.ReadFile(c.json)
	if err != nil || json.Unmarshal(text, &result) != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	broken := map[string][]string{
		"lua-split": {checkKill, checkLeft}, "lua-split, packets of 10": nil, "lua-list": {checkRefund}, "hongbao": nil,
	}
	for _, o := range result.Outcomes {
		want, expected := broken[o.Scheme]
		if !expected || o.Callers != 4 || !o.Finished || o.Won == 0 || o.GrabsPerSecond <= 0 || o.P50 <= 0 || o.P999 < o.P99 || o.P99 < o.P50 {
			t.Errorf("%+v", o)
		}
		delete(broken, o.Scheme)
		for _, check := range o.Verdicts {
			if o.Scheme == "lua-list" && check.Name == checkKill { // its thread may or may not have stored in time
				continue
			}
			if check.Held == slices.Contains(want, check.Name) {
				t.Errorf("%s: %+v", o.Scheme, check)
			}
		}
		if n := len(o.Verdicts); o.Scheme == "hongbao" && (n != len(checkNames()) || len(o.MeanByPlace) != 10 || o.Won != 60) {
			t.Errorf("%+v", o)
		}
		if !strings.Contains(out.String(), "\n"+o.Scheme+" ") {
			t.Errorf("the output does not name %s:\n%s", o.Scheme, out)
		}
	}
	if len(broken) > 0 || result.Workload == "" || result.Machine == "" {
		t.Errorf("missing schemes: %v; %+v", broken, result)
	}
}

func TestCompareHot(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Redis and Postgres")
	c, p, _ := small("pool")
	c.hot = true
	var result Comparison
	if _, err := onTestbed(func(s *testbed) (struct{}, error) { return struct{}{}, c.race(t.Context(), p, s, &result) }); err != nil {
		t.Fatal(err)
	}
	if o := result.Outcomes[0]; o.Shares != 1000 || o.Won > 1000 || o.Grabs < o.Won || o.Answers <= 0 {
		t.Errorf("%+v", o)
	}
}

// TestOursBehaviour checks that the service and its pool implement the interface of the schemes correctly.
func TestOursBehaviour(t *testing.T) {
	enginetest.Need(t, "Redis and Postgres")
	_, err := onTestbed(func(s *testbed) (struct{}, error) {
		all, err := startServers(t.Context(), s, 8)
		if err != nil {
			return struct{}{}, err
		}
		for _, n := range []schemes.Named{oursPool(s.log), oursService(s.log)} {
			e, err := all.fresh(t.Context())
			if err != nil {
				return struct{}{}, err
			}
			process, err := n.Start(t.Context(), e)
			if err != nil {
				return struct{}{}, err
			}
			checkOurs(t, process, n.Name)
			if err := process.Stop(); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, all.release()
	})
	if err != nil {
		t.Error(err)
	}
}

func checkOurs(t *testing.T, s schemes.Scheme, name string) {
	p := schemes.Packet{ID: "p", Sender: "sender", Shares: []int64{10, 20, 30}, TTL: time.Hour}
	if err := s.Open(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for i, want := range []struct {
		packet, user string
		verdict      schemes.Verdict
	}{
		{"p", "ann", schemes.Got}, {"p", "ann", schemes.Already}, {"p", "bob", schemes.Got}, {"p", "cyd", schemes.Got},
		{"p", "dan", schemes.Gone}, {"p", "bob", schemes.Already}, {"no-such-packet", "ann", schemes.Unknown},
	} {
		a, err := s.Grab(t.Context(), want.packet, want.user)
		if err != nil || a.Verdict != want.verdict || (a.Amount > 0) != (want.verdict == schemes.Got) {
			t.Errorf("%s, grab %d: %+v, %v; want %q", name, i, a, err, want.verdict)
		}
		total += a.Amount
	}
	if total != 60 {
		t.Errorf("%s: paid %d, want 60", name, total)
	}
	b, err := s.Stored(t.Context(), "p")
	switch {
	case name == "pool" && err == nil:
		t.Errorf("pool stored %+v, want nothing", b)
	case name != "pool" && (err != nil || len(b.Paid) != 3 || b.Left != 0 || b.Refunded != 0):
		t.Errorf("%s: %+v, %v", name, b, err)
	}
	if _, err := s.Stored(t.Context(), "no-such-packet"); err == nil {
		t.Errorf("%s returns a book of an unknown packet", name)
	}
}
