package proof

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawVector is a draw of testdata/draw.json, which testdata/make_draw.py has computed. Tests of the browser SDK and of the verifier in
// Python read the same file.
type drawVector struct {
	Seed, Sender, Key string
	Wave              uint32
	Entries           []struct{ User, Leaf string } // in no order
	Root              string
	Order, Winners    []string // users
	Count             int
	Inclusion         struct {
		User  string
		Index int // among the sorted leaves
		Path  []string
	}
}

func drawVectors(t *testing.T) (all []drawVector) {
	t.Helper()
	data, err := os.ReadFile("testdata/draw.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all) < 8 {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	return all
}

// leaves returns the leaves of the entries, in the order of the entries.
func (v drawVector) leaves(tb rapid.TB) []Hash {
	tb.Helper()
	leaves := make([]Hash, len(v.Entries))
	for i, entry := range v.Entries {
		leaves[i] = mustHash(tb, entry.Leaf)
	}
	return leaves
}

func (v drawVector) users(places []int) []string {
	users := []string{}
	for _, i := range places {
		users = append(users, v.Entries[i].User)
	}
	return users
}

func mustHash(tb rapid.TB, text string) Hash {
	tb.Helper()
	h, err := hashOf(text)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func mustHex(tb rapid.TB, text string) []byte {
	tb.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// leafSeries returns the first n leaves of the fixed series with this name.
func leafSeries(series string, n int) []Hash {
	leaves := make([]Hash, n)
	for i := range leaves {
		leaves[i] = sha256.Sum256(fmt.Appendf(nil, "%s %d", series, i))
	}
	return leaves
}

func sorted(leaves []Hash) []Hash {
	leaves = slices.Clone(leaves)
	slices.SortFunc(leaves, compareHashes)
	return leaves
}

func TestDrawGolden(t *testing.T) {
	for i, v := range drawVectors(t) {
		leaves := v.leaves(t)
		for k, entry := range v.Entries {
			if got := Leaf(v.Sender, v.Key, v.Wave, entry.User); got != leaves[k] {
				t.Errorf("vector %d: the leaf of %s is %x", i, entry.User, got)
			}
		}
		root := mustHash(t, v.Root)
		if got := Root(leaves); got != root {
			t.Errorf("vector %d: the root is %x", i, got)
		}
		order := Order(Seed(mustHash(t, v.Seed)), v.Sender, v.Key, v.Wave, leaves)
		if got := v.users(order); !slices.Equal(got, v.Order) {
			t.Errorf("vector %d: the order is %v, want %v", i, got, v.Order)
		}
		if got := v.users(Winners(order, v.Count)); !slices.Equal(got, v.Winners) {
			t.Errorf("vector %d: the winners are %v, want %v", i, got, v.Winners)
		}
		in := v.Inclusion
		path := Inclusion(leaves, in.Index)
		if len(path) != len(in.Path) {
			t.Fatalf("vector %d: the path has %d nodes, want %d", i, len(path), len(in.Path))
		}
		for k := range path {
			if path[k] != mustHash(t, in.Path[k]) {
				t.Errorf("vector %d: node %d of the path is %x", i, k, path[k])
			}
		}
		leaf := sorted(leaves)[in.Index]
		if at := slices.Index(leaves, leaf); v.Entries[at].User != in.User {
			t.Errorf("vector %d: the leaf at %d is of %s, want %s", i, in.Index, v.Entries[at].User, in.User)
		}
		if !Included(leaf, in.Index, len(leaves), path, root) {
			t.Errorf("vector %d: the path does not lead to the root", i)
		}
	}
}

// TestLeafDependsOnEachField changes one field at a time, and moves bytes from one field to the next.
func TestLeafDependsOnEachField(t *testing.T) {
	seen := map[Hash]string{}
	for what, leaf := range map[string]Hash{
		"the first":        Leaf("u-1", "k-1", 1, "u-2"),
		"another sender":   Leaf("u-9", "k-1", 1, "u-2"),
		"another key":      Leaf("u-1", "k-9", 1, "u-2"),
		"another wave":     Leaf("u-1", "k-1", 2, "u-2"),
		"another user":     Leaf("u-1", "k-1", 1, "u-9"),
		"a longer sender":  Leaf("u-1k", "-1", 1, "u-2"),
		"a longer key":     Leaf("u-1", "k-1\x00\x00\x00\x04", 1, "u-2"),
		"sender and user":  Leaf("u-2", "k-1", 1, "u-1"),
		"nothing but user": Leaf("", "", 1, "u-1k-1u-2"),
	} {
		if other, same := seen[leaf]; same {
			t.Errorf("%s and %s: the same leaf", what, other)
		}
		seen[leaf] = what
	}
}

// TestRootOfNothing is the empty tree of RFC 6962.
func TestRootOfNothing(t *testing.T) {
	if got := hex.EncodeToString(rootBytes(nil)); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("got %s", got)
	}
	if order := Order(goldenSeed(), "u", "k", 0, nil); len(order) != 0 {
		t.Errorf("the order of nothing is %v", order)
	}
}

func rootBytes(leaves []Hash) []byte {
	root := Root(leaves)
	return root[:]
}

// oracleRoot is the recursive definition of RFC 6962 (2.1). It shares no code with Root.
func oracleRoot(sorted []Hash) []byte {
	h := sha256.New()
	switch n := len(sorted); n {
	case 0:
	case 1:
		h.Write([]byte{0})
		h.Write(sorted[0][:])
	default:
		split := 1 << (bits.Len(uint(n-1)) - 1) // the largest power of two below n
		h.Write([]byte{1})
		h.Write(oracleRoot(sorted[:split]))
		h.Write(oracleRoot(sorted[split:]))
	}
	return h.Sum(nil)
}

// oracleTicket returns the ticket of a leaf in hex, with the fields written as web/docs/protocol/proof.md says. It shares no code with Order.
func oracleTicket(seed Seed, sender, key string, wave uint32, leaf Hash) string {
	text := new(bytes.Buffer)
	for _, field := range []any{[]byte("hongbao/window/2"), []byte(sender), []byte(key), wave} {
		_ = binary.Write(text, binary.BigEndian, uint32(binary.Size(field)))
		_ = binary.Write(text, binary.BigEndian, field)
	}
	keyed := hmac.New(sha256.New, seed[:])
	keyed.Write(text.Bytes())
	ticket := hmac.New(sha256.New, keyed.Sum(nil))
	ticket.Write(leaf[:])
	return hex.EncodeToString(ticket.Sum(nil))
}

// oracleOrder sorts the leaves by their tickets in hex.
func oracleOrder(seed Seed, sender, key string, wave uint32, leaves []Hash) []string {
	all := make([]string, 0, len(leaves))
	for _, leaf := range leaves {
		all = append(all, fmt.Sprintf("%s %x", oracleTicket(seed, sender, key, wave, leaf), leaf))
	}
	sort.Strings(all)
	for i := range all {
		all[i] = all[i][65:]
	}
	return all
}

func hexes(leaves []Hash, places []int) []string {
	all := make([]string, 0, len(leaves))
	for _, i := range places {
		all = append(all, hex.EncodeToString(leaves[i][:]))
	}
	return all
}

func TestDrawAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := leafSeries(fmt.Sprint("oracle", rapid.Int().Draw(t, "leaves")), rapid.IntRange(0, 130).Draw(t, "n"))
		seed, wave := testSeed("draw", rapid.Int().Draw(t, "seed")), rapid.Uint32().Draw(t, "wave")
		sender, key := rapid.String().Draw(t, "sender"), rapid.String().Draw(t, "key")
		root := Root(leaves)
		if !bytes.Equal(root[:], oracleRoot(sorted(leaves))) {
			t.Fatalf("the root of %d leaves is %x", len(leaves), root)
		}
		order := Order(seed, sender, key, wave, leaves)
		if got, want := hexes(leaves, order), oracleOrder(seed, sender, key, wave, leaves); !slices.Equal(got, want) {
			t.Fatalf("the order of %d leaves is %v, want %v", len(leaves), got, want)
		}
		each := slices.Clone(order)
		slices.Sort(each)
		for i := range each {
			if each[i] != i {
				t.Fatalf("the order is no permutation: %v", order)
			}
		}
		// The order of entries must not matter.
		n := rand.New(rand.NewPCG(uint64(wave), 1))
		other := slices.Clone(leaves)
		n.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if Root(other) != root || !slices.Equal(hexes(leaves, order), hexes(other, Order(seed, sender, key, wave, other))) {
			t.Fatal("another order of entries, another draw")
		}
	})
}

// TestOrderOfEqualTickets gives one leaf twice: such tickets are equal, and the order must still be complete.
func TestOrderOfEqualTickets(t *testing.T) {
	leaves := append(leafSeries("equal", 5), leafSeries("equal", 5)...)
	order := Order(goldenSeed(), "u", "k", 0, leaves)
	for i := 0; i < len(order); i += 2 {
		if leaves[order[i]] != leaves[order[i+1]] || order[i] == order[i+1] {
			t.Errorf("places %d and %d are of the leaves %d and %d", i, i+1, order[i], order[i+1])
		}
	}
}

// TestOrderDependsOn changes one input at a time. The order of 60 leaves must change with each.
func TestOrderDependsOn(t *testing.T) {
	leaves := leafSeries("depends", 60)
	first := Order(goldenSeed(), "u", "k", 1, leaves)
	for what, order := range map[string][]int{
		"seed":              Order(testSeed("other", 1), "u", "k", 1, leaves),
		"sender":            Order(goldenSeed(), "v", "k", 1, leaves),
		"key":               Order(goldenSeed(), "u", "l", 1, leaves),
		"wave":              Order(goldenSeed(), "u", "k", 2, leaves),
		"end of the sender": Order(goldenSeed(), "uk", "", 1, leaves),
		"begin of the key":  Order(goldenSeed(), "", "uk", 1, leaves),
	} {
		if slices.Equal(order, first) {
			t.Errorf("another %s, the same order", what)
		}
	}
}

func TestWinnersAreAtMostCount(t *testing.T) {
	order := []int{2, 0, 1}
	for count, want := range map[int]int{-1: 0, 0: 0, 1: 1, 3: 3, 9: 3} {
		if got := Winners(order, count); len(got) != want || !slices.Equal(got, order[:want]) {
			t.Errorf("%d shares: %v", count, got)
		}
	}
}

// TestRootDependsOnEachLeaf flips a bit of each leaf, and leaves each out.
func TestRootDependsOnEachLeaf(t *testing.T) {
	for n := 1; n <= 40; n++ {
		leaves := leafSeries("root", n)
		root := Root(leaves)
		for i := range leaves {
			other := slices.Clone(leaves)
			other[i][i%32] ^= 1 << (i % 8)
			if Root(other) == root {
				t.Errorf("leaf %d of %d was changed, and the root is the same", i, n)
			}
			if Root(slices.Delete(slices.Clone(leaves), i, i+1)) == root {
				t.Errorf("leaf %d of %d was left out, and the root is the same", i, n)
			}
		}
	}
}

// TestInclusion proves each leaf of trees of up to 70 leaves. The same path must prove nothing else.
func TestInclusion(t *testing.T) {
	for n := 1; n <= 70; n++ {
		leaves := sorted(leafSeries("inclusion", n))
		root := Root(leaves)
		for i, leaf := range leaves {
			path := Inclusion(leaves, i)
			if !Included(leaf, i, n, path, root) {
				t.Fatalf("leaf %d of %d is not included", i, n)
			}
			wrong := func(what string, leaf Hash, index, n int, path []Hash, root Hash) {
				if Included(leaf, index, n, path, root) {
					t.Errorf("leaf %d of %d: included with %s", i, len(leaves), what)
				}
			}
			bit := 1 + i%7
			root := root
			leaf[i%32] ^= byte(1 << bit)
			wrong("another leaf", leaf, i, n, path, root)
			leaf[i%32] ^= byte(1 << bit)
			root[n%32] ^= byte(1 << bit)
			wrong("another root", leaf, i, n, path, root)
			root[n%32] ^= byte(1 << bit)
			for k := range path {
				other := slices.Clone(path)
				other[k][(i+k)%32] ^= byte(1 << bit)
				wrong(fmt.Sprint("another node ", k), leaf, i, n, other, root)
				wrong(fmt.Sprint("a path without node ", k), leaf, i, n, slices.Delete(slices.Clone(path), k, k+1), root)
			}
			wrong("a longer path", leaf, i, n, append(slices.Clone(path), root), root)
			for k := -1; k <= n; k++ {
				if k != i {
					wrong(fmt.Sprint("index ", k), leaf, k, n, path, root)
				}
			}
			wrong("no leaves", leaf, i, 0, path, root)
		}
	}
}

// TestInclusionWithAnotherNumber gives other numbers of leaves. Included must agree with the recursive
// definition. A path may be the same in trees of near sizes, so a verifier takes the number from where it takes the root.
func TestInclusionWithAnotherNumber(t *testing.T) {
	for n := 1; n <= 70; n++ {
		leaves := sorted(leafSeries("number", n))
		path := Inclusion(leaves, n-1)
		for other := range 2*n + 2 {
			root, whole := oracleClimb(leaves[n-1], n-1, max(other, n), path)
			want := other >= n && whole && root == Root(leaves)
			if got := Included(leaves[n-1], n-1, other, path, Root(leaves)); got != want || got && other != n && bits.Len(uint(other-1)) != bits.Len(uint(n-1)) {
				t.Errorf("the last of %d leaves: included among %d: %v", n, other, got)
			}
		}
	}
}

// TestInnerNodeIsNoLeaf shows an inner node as a leaf, with what is above it as the path.
func TestInnerNodeIsNoLeaf(t *testing.T) {
	leaves := sorted(leafSeries("inner", 4))
	left, right := inner(bottomNode(leaves[0]), bottomNode(leaves[1])), inner(bottomNode(leaves[2]), bottomNode(leaves[3]))
	if Root(leaves) != inner(left, right) || Included(left, 0, 2, []Hash{right}, Root(leaves)) {
		t.Error("an inner node passes as a leaf")
	}
}

func TestInclusionPanicsOutsideTheTree(t *testing.T) {
	for _, index := range []int{-1, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("leaf %d of 3 has a path", index)
				}
			}()
			Inclusion(leafSeries("panic", 3), index)
		}()
	}
}

// FuzzIncluded passes any path to Included. It may accept only a path that leads to the root by the recursive definition.
func FuzzIncluded(f *testing.F) {
	leaves := sorted(leafSeries("fuzz", 7))
	for i := range leaves {
		f.Add(leaves[i][:], i, 7, bytes.Join(slices.Collect(func(yield func([]byte) bool) {
			for _, node := range Inclusion(leaves, i) {
				if !yield(node[:]) {
					return
				}
			}
		}), nil), uint8(7))
	}
	f.Add([]byte{}, 1<<62, 1<<62+1, []byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, leaf []byte, index, n int, nodes []byte, trees uint8) {
		var start Hash
		copy(start[:], leaf)
		var path []Hash
		for node := range slices.Chunk(nodes, 32) {
			var h Hash
			copy(h[:], node)
			path = append(path, h)
		}
		all := sorted(leafSeries("fuzz", int(trees)))
		if Included(start, index, n, path, Root(all)) && (index < 0 || index >= n || !slices.Contains(all, start)) {
			t.Fatalf("a leaf that the tree does not have is included at %d of %d", index, n)
		}
		if index < 0 || index >= n || len(path) > 80 {
			return
		}
		root, whole := oracleClimb(start, index, n, path)
		if got := Included(start, index, n, path, root); got != whole {
			t.Fatalf("index %d of %d with %d nodes: got %v, want %v", index, n, len(path), got, whole)
		}
	})
}

// oracleClimb follows a path from its end, where the root is, as the recursive definition of RFC 6962 (2.1.1) describes it. whole
// reports whether the path has the right length.
func oracleClimb(leaf Hash, index, n int, path []Hash) (root Hash, whole bool) {
	if n == 1 {
		return bottomNode(leaf), len(path) == 0
	}
	if len(path) == 0 {
		return root, false
	}
	rest, beside := path[:len(path)-1], path[len(path)-1]
	split := 1 << (bits.Len(uint(n-1)) - 1)
	if index < split {
		root, whole = oracleClimb(leaf, index, split, rest)
		return inner(root, beside), whole
	}
	root, whole = oracleClimb(leaf, index-split, n-split, rest)
	return inner(beside, root), whole
}

// TestDrawIsFairByArrival draws 10,000 packets. Each place in the order of arrival must win as often as each other, by a chi-square test
// at 1 %, and must be first as often.
func TestDrawIsFairByArrival(t *testing.T) {
	const draws, participants, count, limit = 10_000, 10, 3, 21.666 // 1 % of chi-square with 9 degrees of freedom
	wins, firsts := make([][]float64, draws), make([][]float64, draws)
	for n := range draws {
		key := fmt.Sprint("k-", n)
		leaves := make([]Hash, participants)
		for i := range leaves { // the users are the same ones in each draw, in the same order of arrival
			leaves[i] = Leaf("u-0", key, 0, fmt.Sprint("u-", i))
		}
		order := Order(testSeed("fair draws", n), "u-0", key, 0, leaves)
		wins[n], firsts[n] = make([]float64, participants), make([]float64, participants)
		for _, i := range Winners(order, count) {
			wins[n][i] = 1
		}
		firsts[n][order[0]] = 1
	}
	for what, rows := range map[string][][]float64{"wins": wins, "first shares": firsts} {
		x := flatness(rows)
		t.Logf("%s: chi-square %.1f", what, x)
		if x > limit {
			t.Errorf("%s differ by arrival: chi-square %.1f, over %.1f", what, x, limit)
		}
	}
}

// TestFairnessTestDetectsFirstCome gives the first participant one draw in ten without a ticket. The test of
// TestDrawIsFairByArrival must find that unfair.
func TestFairnessTestDetectsFirstCome(t *testing.T) {
	rows := make([][]float64, 10_000)
	for n := range rows {
		leaves := leafSeries(fmt.Sprint("first come ", n), 10)
		order := Order(testSeed("unfair draws", n), "u", "k", 0, leaves)
		rows[n] = make([]float64, 10)
		if n%10 == 0 {
			order[0] = 0
		}
		rows[n][order[0]] = 1
	}
	if x := flatness(rows); x < 21.666 {
		t.Errorf("a draw with an advantage of 10 %% passes as fair: chi-square %.1f", x)
	}
}

// TestTicketsCannotBeSteered adds users to a draw and removes some, in any order of arrival. The others keep their tickets, so their order
// stays the same. A server that knows the seed can thus let nobody win by what it enters: see web/docs/protocol/proof.md.
func TestTicketsCannotBeSteered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, key := testSeed("steered", rapid.Int().Draw(t, "seed")), rapid.String().Draw(t, "key")
		alone := func(user string) string { // the ticket of a user that takes part alone
			return oracleTicket(seed, "u-0", key, 0, Leaf("u-0", key, 0, user))
		}
		users := rapid.Permutation(testUsers(rapid.IntRange(1, 40).Draw(t, "n"))).Draw(t, "arrival")
		some := users[:rapid.IntRange(0, len(users)).Draw(t, "without others")]
		all := orderOfUsers(seed, key, users)
		left := slices.DeleteFunc(slices.Clone(all), func(user string) bool { return !slices.Contains(some, user) })
		if got := orderOfUsers(seed, key, some); !slices.Equal(got, left) {
			t.Fatalf("%v without the others are in the order %v, with them in %v", some, got, left)
		}
		if !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(alone(a), alone(b)) }) {
			t.Fatalf("the order %v is not that of the tickets that the users have alone", all)
		}
		slices.Sort(users)
		if got := orderOfUsers(seed, key, users); !slices.Equal(got, all) {
			t.Fatalf("another order of arrival, the order %v instead of %v", got, all)
		}
	})
}

// orderOfUsers returns the users in the order of the draw.
func orderOfUsers(seed Seed, key string, users []string) []string {
	leaves := make([]Hash, len(users))
	for i, user := range users {
		leaves[i] = Leaf("u-0", key, 0, user)
	}
	order := make([]string, 0, len(users))
	for _, i := range Order(seed, "u-0", key, 0, leaves) {
		order = append(order, users[i])
	}
	return order
}

// TestPageHasTheGoldenDraw compares the example in web/docs/protocol/proof.md with the golden draw, and checks its proof file.
func TestPageHasTheGoldenDraw(t *testing.T) {
	page, err := os.ReadFile("../../web/docs/protocol/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	v := drawVectors(t)[2]
	wants := []string{v.Seed, v.Root}
	for _, entry := range v.Entries {
		wants = append(wants, entry.User, entry.Leaf)
	}
	for _, want := range wants {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("proof.md has no %s", want)
		}
	}
	_, example, _ := bytes.Cut(page, []byte("echo '{\"packet\""))
	example, _, _ = bytes.Cut(example, []byte("' | go run"))
	d, err := ReadDocument(bytes.NewReader(append([]byte("{\"packet\""), example...)))
	if err == nil {
		_, err = Check(d)
	}
	if err != nil || len(d.Waves) != 1 {
		t.Errorf("the proof file of the page: %v", err)
	}
}

// TestLargeDraw draws 100,000 participants. It allocates no more often than for a few.
func TestLargeDraw(t *testing.T) {
	leaves := leafSeries("large", 100_000)
	var order []int
	allocations := testing.AllocsPerRun(1, func() { order = Order(goldenSeed(), "u", "k", 0, leaves) })
	slices.Sort(order)
	if allocations > 50 || len(order) != len(leaves) || order[0] != 0 || order[len(order)-1] != len(leaves)-1 {
		t.Errorf("%d places of %d leaves, with %v allocations", len(order), len(leaves), allocations)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		leaves := leafSeries("benchmark", n)
		b.Run(fmt.Sprintf("root/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Root(leaves)
			}
		})
		ordered := sorted(leaves)
		b.Run(fmt.Sprintf("root-sorted/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Root(ordered)
			}
		})
		b.Run(fmt.Sprintf("order/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Order(goldenSeed(), "u", "k", 0, leaves)
			}
		})
	}
}
