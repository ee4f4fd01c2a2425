package chain

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"hongbao/redpacket"
)

// testChains are two chains with two kinds of rows, as a database would have them.
type testChains struct {
	links         []StoredLink
	claims, texts []StoredRow
}

func newTestChains() *testChains {
	c := &testChains{}
	last, hashes := map[int64]int64{}, map[int64]Hash{}
	add := func(number int64, rows ...*[]StoredRow) {
		l := Link{ID: LinkID(number, last[number], int64(1000+len(c.links))), Prev: last[number], At: int64(1000 + len(c.links)), Leaves: int64(len(rows))}
		var leaves []Hash
		for _, table := range rows {
			row := StoredRow{Link: l.ID, ID: fmt.Sprint(len(*table)), Leaf: Digest([]Hash{{byte(len(c.links)), byte(len(leaves))}})}
			*table = append(*table, row)
			leaves = append(leaves, row.Leaf)
		}
		l.Digest = Digest(leaves)
		hash := l.Hash(hashes[number])
		c.links = append(c.links, StoredLink{Link: l, Hash: hash[:]})
		last[number], hashes[number] = l.ID, hash
	}
	add(1)
	add(2)
	for range 3 {
		add(1, &c.claims, &c.claims)
		add(2, &c.texts)
		add(1, &c.texts, &c.claims)
	}
	return c
}

func (c *testChains) heads() []redpacket.Head {
	heads := map[int64]redpacket.Head{}
	for _, l := range c.links {
		heads[l.Chain()] = redpacket.Head{Chain: l.Chain(), Link: l.ID, Hash: Hash(l.Hash)}
	}
	return []redpacket.Head{heads[1], heads[2]}
}

func seq[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

func (c *testChains) verify(t *testing.T, anchors []redpacket.Head) (found []string) {
	t.Helper()
	found, _ = c.verifySince(t, anchors, nil)
	return found
}

func (c *testChains) verifySince(t *testing.T, anchors, since []redpacket.Head) (found []string, heads []redpacket.Head) {
	t.Helper()
	v := Verifier{Anchors: anchors, Since: since, Report: func(kind, id, format string, args ...any) {
		found = append(found, kind+" "+id+": "+fmt.Sprintf(format, args...))
	}}
	byID := func(a, b StoredRow) int { return int(min(1, max(-1, a.Link-b.Link))) }
	slices.SortStableFunc(c.claims, byID)
	slices.SortStableFunc(c.texts, byID)
	slices.SortFunc(c.links, func(a, b StoredLink) int { return int(min(1, max(-1, a.ID-b.ID))) })
	if err := v.Verify(seq(c.links), Rows{"claim", seq(c.claims)}, Rows{"text", seq(c.texts)}); err != nil {
		t.Fatal(err)
	}
	return found, v.Heads()
}

// TestVerifyFindsEachChange changes untouched chains in one way at a time.
func TestVerifyFindsEachChange(t *testing.T) {
	anchors := newTestChains().heads()
	if found := newTestChains().verify(t, anchors); len(found) > 0 {
		t.Fatalf("untouched chains: %v", found)
	}
	changes := map[string]func(c *testChains){
		"row changed":                 func(c *testChains) { c.claims[2].Leaf[5]++ },
		"row removed":                 func(c *testChains) { c.claims = slices.Delete(c.claims, 2, 3) },
		"row added":                   func(c *testChains) { c.texts = append(c.texts, c.texts[1]) },
		"row moved to another link":   func(c *testChains) { c.claims[2].Link = c.links[len(c.links)-1].ID },
		"row moved to no link":        func(c *testChains) { c.claims[2].Link = 0 },
		"row moved to a missing link": func(c *testChains) { c.claims[2].Link = 1<<63 - 1 },
		"row of a link before all":    func(c *testChains) { c.claims[2].Link = -5 },
		"hash changed":                func(c *testChains) { c.links[4].Hash[0]++ },
		"hash of another length":      func(c *testChains) { c.links[4].Hash = c.links[4].Hash[:31] },
		"time changed":                func(c *testChains) { c.links[4].At++ },
		"number of rows changed":      func(c *testChains) { c.links[4].Leaves++ },
		"link removed":                func(c *testChains) { c.links = slices.Delete(c.links, 4, 5) },
		"link with its rows removed": func(c *testChains) {
			id := c.links[4].ID
			c.links = slices.Delete(c.links, 4, 5)
			ofLink := func(r StoredRow) bool { return r.Link == id }
			c.claims, c.texts = slices.DeleteFunc(c.claims, ofLink), slices.DeleteFunc(c.texts, ofLink)
		},
		"rows exchanged between links": func(c *testChains) {
			c.claims[1].Link, c.claims[2].Link = c.claims[2].Link, c.claims[1].Link
		},
	}
	for name, change := range changes {
		c := newTestChains()
		change(c)
		if found := c.verify(t, nil); len(found) == 0 {
			t.Errorf("not found: %s", name)
		}
	}
}

// TestAnchorsFindLostTail removes the newest link of a chain with its rows. Only a head that was copied earlier shows it.
func TestAnchorsFindLostTail(t *testing.T) {
	c := newTestChains()
	anchors := c.heads()
	last := len(c.links) - 1
	id := c.links[last].ID
	c.links = c.links[:last]
	ofLink := func(r StoredRow) bool { return r.Link == id }
	c.claims, c.texts = slices.DeleteFunc(c.claims, ofLink), slices.DeleteFunc(c.texts, ofLink)
	if found := c.verify(t, nil); len(found) > 0 {
		t.Errorf("without anchors: %v", found)
	}
	if found := c.verify(t, anchors); len(found) != 1 || !strings.Contains(found[0], "missing") {
		t.Errorf("with anchors: %v, want the missing head", found)
	}
	anchors[1].Hash[3]++
	if found := newTestChains().verify(t, anchors); len(found) != 1 || !strings.Contains(found[0], "saved") {
		t.Errorf("with another hash: %v", found)
	}
}

// TestVerifySince verifies only what is newer than the heads of an earlier time, with and without the older rows and links.
func TestVerifySince(t *testing.T) {
	all := newTestChains()
	var since []redpacket.Head
	for _, l := range all.links[3:5] {
		since = append(since, redpacket.Head{Chain: l.Chain(), Link: l.ID, Hash: Hash(l.Hash)})
	}
	slices.SortFunc(since, func(a, b redpacket.Head) int { return int(a.Chain - b.Chain) })
	newer := func(r StoredRow) bool { return r.Link > all.links[4].ID || r.Link <= 0 }
	for _, older := range []bool{true, false} {
		verify := func(change func(c *testChains)) (found []string, heads []redpacket.Head) {
			c := newTestChains()
			change(c)
			if !older {
				c.links = c.links[3:]
				c.claims = slices.DeleteFunc(c.claims, func(r StoredRow) bool { return !newer(r) })
				c.texts = slices.DeleteFunc(c.texts, func(r StoredRow) bool { return !newer(r) })
			}
			return c.verifySince(t, nil, since)
		}
		if found, heads := verify(func(*testChains) {}); len(found) > 0 || !slices.Equal(heads, all.heads()) {
			t.Errorf("untouched: %v, heads %v, want %v", found, heads, all.heads())
		}
		if found, _ := verify(func(c *testChains) { c.claims[0].Leaf[0]++ }); len(found) > 0 {
			t.Errorf("an older row: %v", found)
		}
		for name, change := range map[string]func(c *testChains){
			"newer row changed":        func(c *testChains) { c.claims[len(c.claims)-1].Leaf[0]++ },
			"newer row removed":        func(c *testChains) { c.claims = c.claims[:len(c.claims)-1] },
			"row in no chain":          func(c *testChains) { c.claims[0].Link = 0 },
			"row of a negative link":   func(c *testChains) { c.claims[0].Link = -5 },
			"known head changed":       func(c *testChains) { c.links[4].Hash[0]++ },
			"known head removed":       func(c *testChains) { c.links[4].ID++ },
			"newer link changed":       func(c *testChains) { c.links[7].At++ },
			"link of a new chain":      func(c *testChains) { c.links[7].ID++ },
			"first newer link skipped": func(c *testChains) { c.links = slices.Delete(c.links, 5, 6) },
		} {
			if found, _ := verify(change); len(found) == 0 {
				t.Errorf("not found: %s (older rows there: %v)", name, older)
			}
		}
	}
}

// TestVerifyReturnsReadErrors fails while rows are read.
func TestVerifyReturnsReadErrors(t *testing.T) {
	broken := errors.New("broken")
	v := Verifier{Report: func(string, string, string, ...any) {}}
	rows := func(yield func(StoredRow, error) bool) { yield(StoredRow{}, broken) }
	if err := v.Verify(seq(newTestChains().links), Rows{"claim", rows}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	links := func(yield func(StoredLink, error) bool) { yield(StoredLink{}, broken) }
	if err := v.Verify(links); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
