package main

import (
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/flaws"
	"hongbao/cmd/hongbao-bench/schemes"
)

// quickFlaws are of every kind; `compare --flaws` shows all.
const quickFlaws = "jam,lua-list-redis-dies,lease-outlived"

func TestFlaws(t *testing.T) {
	c, p, out := small(quickFlaws)
	c.flaws = true
	if err := c.run(t.Context(), p); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	for name := range strings.SplitSeq(quickFlaws, ",") {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %s in\n%s", name, out)
		}
	}
}

// TestFlawsCanFail has ours play the part of a scheme, and the scheme that of ours: then nothing can be reproduced on it,
// and what is called ours does not pass.
func TestFlawsCanFail(t *testing.T) {
	_, err := onSite(func(s *site) (struct{}, error) {
		all, err := startServers(t.Context(), s, "", "", flawConnections)
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
			found, err := f.Show(t.Context(), &flaws.Stage{Fresh: all.fresh, Twin: all.twin, Redis: all.redis, Schemes: []schemes.Named{good}, Ours: bad})
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
			t.Errorf("%+v is wrong", bad)
		}
	}
}

// TestEveryFlawHasItsScheme shows that no name is a slip, and that the names are those by which --only finds them.
func TestEveryFlawHasItsScheme(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range flaws.All() {
		if _, err := choose(f.Scheme, schemes.All(), func(n schemes.Named) string { return n.Name }); err != nil || seen[f.Name] || f.Says == "" {
			t.Errorf("%s of %s: %v", f.Name, f.Scheme, err)
		}
		seen[f.Name] = true
	}
}
