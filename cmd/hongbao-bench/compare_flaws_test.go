package main

import (
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/flaws"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/enginetest"
)

// quickFlaws has one flaw of each kind; `compare --flaws` runs all.
const quickFlaws = "jam,lua-list-redis-dies,lease-outlived"

func TestFlaws(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Redis and Postgres")
	c, p, out := small(quickFlaws)
	c.flaws = true
	if err := c.run(t.Context(), p); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	for name := range strings.SplitSeq(quickFlaws, ",") {
		if !strings.Contains(out.String(), name) {
			t.Errorf("the output does not name %s:\n%s", name, out)
		}
	}
}

// TestFlawsCanFail exchanges the service and a scheme. Then no flaw may be reproduced on "the scheme", and "the
// service" must not pass.
func TestFlawsCanFail(t *testing.T) {
	enginetest.Nightly(t, "bench")
	enginetest.Need(t, "Redis and Postgres")
	_, err := onTestbed(func(s *testbed) (struct{}, error) {
		all, err := startServers(t.Context(), s, flawConnections)
		if err != nil {
			return struct{}{}, err
		}
		for _, f := range flaws.All() {
			if f.Name != "jam" && f.Name != "too-few-retries" {
				continue
			}
			theirs, _ := choose(f.Scheme, schemes.All(), func(n schemes.Named) string { return n.Name })
			good, bad := oursService(s.log), theirs[0]
			good.Name, bad.Name = f.Scheme, "hongbao"
			show := func() (flaws.Finding, error) {
				return f.Show(t.Context(), &flaws.Environment{Fresh: all.fresh, Twin: all.twin, Redis: all.redis, Schemes: []schemes.Named{good}, Ours: bad})
			}
			found, err := show()
			for tries := 1; err == nil && found.OursPasses && tries < 5; tries++ { // the scheme passes if its users happen not to meet
				found, err = show()
			}
			if err != nil || found.Reproduced || found.OursPasses || found.Evidence == "" || found.Ours == "" {
				t.Errorf("%s: %+v, %v", f.Name, found, err)
			}
			if err := all.release(); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWrongFlaws(t *testing.T) {
	all := []Shown{{Name: "jam", Reproduced: true, OursPasses: true}}
	if err := wrongFlaws(all); err != nil {
		t.Error(err)
	}
	for _, bad := range []Shown{{Name: "x", OursPasses: true}, {Name: "x", Reproduced: true}} {
		if wrongFlaws(append(all, bad)) == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

// TestEveryFlawHasItsScheme checks that each flaw names an existing scheme, and that --only finds each flaw by its name.
func TestEveryFlawHasItsScheme(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range flaws.All() {
		if _, err := choose(f.Scheme, schemes.All(), func(n schemes.Named) string { return n.Name }); err != nil || seen[f.Name] || f.Says == "" {
			t.Errorf("%s of %s: %v", f.Name, f.Scheme, err)
		}
		seen[f.Name] = true
	}
}
