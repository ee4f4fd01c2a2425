package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/proofs.json")

// proofFile is testdata/proofs.json. Tests of the browser SDK, of the page that checks proofs, and of the verifier in Python read it, too.
type proofFile struct {
	Proofs   []proofCase   `json:"proofs"`
	Receipts []receiptCase `json:"receipts"`
}

// proofCase is a proof with the verdict on it.
type proofCase struct {
	Name     string   `json:"name"`
	Wrong    string   `json:"wrong"` // the first finding that does not hold; "form": it cannot be checked; "": all holds
	Document Document `json:"document"`
}

type receiptCase struct {
	Name    string  `json:"name"`
	Public  string  `json:"public"` // the server's key
	Signed  bool    `json:"signed"` // the receipt is the server's
	Leaf    string  `json:"leaf"`   // "in" the proof, left "out", "wrong" for its user, or of "other" packets or waves
	Proof   string  `json:"proof"`  // name of the proof
	Receipt Receipt `json:"receipt"`
}

// testTerms are the terms of a document before anybody has taken part.
func testTerms(mode, spread string, total int64, count int) Document {
	return Document{
		Packet: "01a2226f-eb63-7753-a344-4261f829300e", Seed: hex.EncodeToString(seedBytes(goldenSeed())), Commitment: Commitment(goldenSeed()),
		Sender: "u-1", Key: "k-1", Mode: mode, Spread: spread, Total: total, Count: count,
	}
}

func seedBytes(s Seed) []byte { return s[:] }

// testUsers returns n users, some of them with Chinese ids.
func testUsers(n int) []string {
	users := make([]string, n)
	for i := range users {
		users[i] = fmt.Sprintf([]string{"u-%d", "用户%d", "user:%d"}[i%3], i)
	}
	return users
}

// draw completes a document as a server does.
func draw(tb rapid.TB, d Document, users []string) Document {
	tb.Helper()
	parts := d.Count
	if d.Rest == RestShare {
		parts = min(parts, len(users))
	}
	var shares []int64
	if parts > 0 {
		shares = mustCut(tb, goldenSeed(), Terms{d.Sender, d.Key, d.Mode, d.Spread, d.Total, parts})
	}
	leaves := make([]Hash, len(users))
	for i, user := range users {
		leaves[i] = Leaf(d.Sender, d.Key, 0, user)
	}
	w := Wave{Root: hex.EncodeToString(rootBytes(leaves)), Entries: len(users), Winners: []Winner{}}
	for _, leaf := range sorted(leaves) {
		w.Leaves = append(w.Leaves, hex.EncodeToString(leaf[:]))
	}
	for place, at := range Winners(Order(goldenSeed(), d.Sender, d.Key, 0, leaves), d.Count) {
		w.Winners = append(w.Winners, Winner{Participant{users[at], hex.EncodeToString(leaves[at][:])}, shares[place], place + 1})
	}
	d.Waves = []Wave{w}
	return d
}

func goldenProofs(t *testing.T) (f proofFile) {
	t.Helper()
	add := func(name, wrong string, d Document) { f.Proofs = append(f.Proofs, proofCase{name, wrong, d}) }
	window := func(mode, spread, rest string, count, users int) Document {
		d := testTerms(mode, spread, 1_000, count)
		d.Rest = rest
		return draw(t, d, testUsers(users))
	}
	add("many participants", "", window(Lucky, Classic, RestRefund, 3, 9))
	add("few participants, the rest is refunded", "", window(Lucky, Calm, "", 5, 2))
	add("few participants share all", "", window(Lucky, Wild, RestShare, 5, 2))
	add("one participant", "", window(Equal, "", RestShare, 3, 1))
	add("no participant", "", window(Lucky, Classic, RestShare, 3, 0))
	// A participant that the server has left out. The proof holds: only the receipt shows it.
	add("a participant left out", "", draw(t, testTerms(Lucky, Classic, 1_000, 3), slices.DeleteFunc(testUsers(9), func(user string) bool { return user == "u-6" })))
	first := testTerms(Lucky, Classic, 1_000, 10)
	first.Shares = mustCut(t, goldenSeed(), Terms{first.Sender, first.Key, first.Mode, first.Spread, first.Total, first.Count})
	add("no draw", "", first)
	erased := window(Lucky, Classic, RestRefund, 3, 9)
	erased.Waves[0].Winners[0].User = ""
	add("an erased user", "", erased)

	forge := func(name, wrong string, of int, change func(d *Document)) {
		d := f.Proofs[of].Document
		text, err := json.Marshal(d)
		if err == nil {
			d = Document{}
			err = json.Unmarshal(text, &d)
		}
		if err != nil {
			t.Fatal(err)
		}
		change(&d)
		add(name, wrong, d)
	}
	const many, rest, none = 0, 2, 6
	other := leafSeries("forged", 1)[0]
	forge("another seed", "commitment", many, func(d *Document) { d.Seed = strings.Repeat("0", 64) })
	forge("another commitment", "commitment", many, func(d *Document) { d.Commitment = strings.Repeat("0", 64) })
	forge("another sender", "winners", many, func(d *Document) { d.Sender = "u-2" })
	forge("another key", "winners", many, func(d *Document) { d.Key = "k-2" })
	forge("another total", "winners", many, func(d *Document) { d.Total++ })
	forge("a total too small", "shares", many, func(d *Document) { d.Total = 2 })
	forge("another spread", "winners", many, func(d *Document) { d.Spread = Calm })
	forge("an unknown spread", "shares", many, func(d *Document) { d.Spread = "odd" })
	forge("one more share", "winners", many, func(d *Document) { d.Count++ })
	forge("other shares", "shares", many, func(d *Document) { d.Shares = []int64{1, 2, 997} })
	forge("another root", "root", many, func(d *Document) { d.Waves[0].Root = hex.EncodeToString(other[:]) })
	forge("an entry dropped", "root", many, func(d *Document) {
		d.Waves[0].Leaves = d.Waves[0].Leaves[1:]
		d.Waves[0].Entries--
	})
	forge("an entry added", "root", many, func(d *Document) {
		d.Waves[0].Leaves = append(d.Waves[0].Leaves, hex.EncodeToString(other[:]))
		slices.Sort(d.Waves[0].Leaves)
		d.Waves[0].Entries++
	})
	forge("an entry dropped with its root", "winners", many, func(d *Document) {
		w := &d.Waves[0]
		w.Leaves = slices.DeleteFunc(w.Leaves, func(leaf string) bool { return leaf == w.Winners[0].Leaf })
		w.Entries = len(w.Leaves)
		w.Root = hex.EncodeToString(rootBytes(hashesOf(t, w.Leaves)))
	})
	forge("leaves in another order", "root", many, func(d *Document) { slices.Reverse(d.Waves[0].Leaves) })
	forge("a leaf twice", "root", many, func(d *Document) { d.Waves[0].Leaves[1] = d.Waves[0].Leaves[0] })
	forge("a user that takes part twice", "root", many, func(d *Document) {
		w := &d.Waves[0]
		w.Leaves = append(w.Leaves, w.Winners[0].Leaf)
		slices.Sort(w.Leaves)
		w.Entries = len(w.Leaves)
		w.Root = hex.EncodeToString(rootBytes(hashesOf(t, w.Leaves)))
		w.Winners[1].Participant = w.Winners[0].Participant
	})
	forge("another number", "root", many, func(d *Document) { d.Waves[0].Entries++ })
	forge("no leaves", "root", many, func(d *Document) { d.Waves[0].Leaves = nil })
	forge("a leaf in no hex", "root", many, func(d *Document) { d.Waves[0].Leaves[0] = "x" })
	forge("a short root", "root", many, func(d *Document) { d.Waves[0].Root = "00" })
	forge("winners swapped", "winners", many, func(d *Document) {
		w := d.Waves[0].Winners
		w[0], w[1] = w[1], w[0]
	})
	forge("a winner left out", "winners", many, func(d *Document) { d.Waves[0].Winners = d.Waves[0].Winners[1:] })
	forge("the last winner left out", "winners", many, func(d *Document) { d.Waves[0].Winners = d.Waves[0].Winners[:2] })
	forge("a winner twice", "winners", many, func(d *Document) { d.Waves[0].Winners = append(d.Waves[0].Winners, d.Waves[0].Winners[0]) })
	forge("another user wins", "winners", many, func(d *Document) { d.Waves[0].Winners[0].User = "u-99" })
	forge("the leaf of another user", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Leaf = d.Waves[0].Winners[1].Leaf })
	forge("the name of another winner", "winners", many, func(d *Document) { d.Waves[0].Winners[0].User = d.Waves[0].Winners[1].User })
	forge("no leaf of a winner", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Leaf = "" })
	forge("another amount", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Amount++ })
	forge("another rank", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Rank++ })
	forge("refunded instead of shared", "winners", rest, func(d *Document) { d.Rest = RestRefund })

	all := testUsers(9)
	rain := len(f.Proofs)
	add("a rain", "", rainOf(t, testTerms(Lucky, Classic, 1_000, 8), 1, all[:3], nil, all, all[2:6]))
	add("a rain whose users win again", "", rainOf(t, testTerms(Equal, "", 1_000, 12), 4, all[:4], all[:4], all[:4], all[:4]))
	add("a rain that has ended early", "", rainOf(t, testTerms(Lucky, Wild, 1_000, 4), 2, all[:3], all[:1]))
	add("a rain without a wave", "", rainOf(t, testTerms(Lucky, Wild, 1_000, 4), 2))
	forge("a wave moved", "instant", rain, func(d *Document) { d.Waves[2].Opens++ })
	forge("a rain that began later", "instant", rain, func(d *Document) { d.Rain.Begin++ })
	forge("a rain over another time", "instant", rain, func(d *Document) { d.Rain.OverS++ })
	forge("a winner over max_wins", "winners", rain, func(d *Document) { d.Rain.MaxWins = 2 })
	forge("a wave left out", "form", rain, func(d *Document) { d.Waves = append(d.Waves[:1], d.Waves[2:]...) })
	forge("the winners of another wave", "winners", rain, func(d *Document) { d.Waves[3].Winners = d.Waves[2].Winners })
	forge("an entry of a wave dropped", "root", rain, func(d *Document) {
		d.Waves[2].Leaves = d.Waves[2].Leaves[1:]
		d.Waves[2].Entries--
	})
	forge("a share that does not roll on", "winners", rain, func(d *Document) { d.Waves[2].Winners = d.Waves[2].Winners[:2] })
	forge("a draw as a rain", "form", many, func(d *Document) { d.Rain = &Rain{Waves: 3, OverS: 10, MaxWins: 1} })
	forge("waves too near to each other", "form", rain, func(d *Document) { d.Rain.OverS = 11 })
	forge("nobody may win", "form", rain, func(d *Document) { d.Rain.MaxWins = 0 })
	forge("a count that is no multiple", "form", rain, func(d *Document) { d.Count++ })
	forge("a rain whose rest is shared", "form", rain, func(d *Document) { d.Rest = RestShare })
	forge("a wave with a number", "form", many, func(d *Document) { d.Waves[0].Wave = 1 })
	forge("two draws", "form", many, func(d *Document) { d.Waves = append(d.Waves, d.Waves[0]) })
	forge("a rest that is shared without a draw", "form", none, func(d *Document) { d.Rest = RestShare })
	forge("other shares without a draw", "shares", none, func(d *Document) { d.Shares[0]++ })
	forge("another key without a draw", "shares", none, func(d *Document) { d.Key = "k-2" })
	forge("an unknown rest", "form", many, func(d *Document) { d.Rest = "keep" })
	forge("a short seed", "form", many, func(d *Document) { d.Seed = "00" })
	forge("no sender", "form", many, func(d *Document) { d.Sender = "" })
	forge("no shares", "form", many, func(d *Document) { d.Count = 0 })
	forge("too many shares", "form", many, func(d *Document) { d.Count = maxShares + 1 })

	f.Receipts = goldenReceipts(f.Proofs[many].Document)
	return f
}

// rainOf completes the document of a rain of four waves, each of which the users enter that are listed for it.
func rainOf(tb rapid.TB, d Document, maxWins int, entered ...[]string) Document {
	tb.Helper()
	d.Rain = &Rain{Waves: 4, OverS: 30, MaxWins: maxWins, Begin: 1_800_000_000_000}
	shares := mustCut(tb, goldenSeed(), Terms{d.Sender, d.Key, d.Mode, d.Spread, d.Total, d.Count})
	opens, round := d.Rain.Opens(goldenSeed(), d.Sender, d.Key), d.Rain.NewRound(d.Count)
	for i, users := range entered {
		w := Wave{Wave: uint32(i + 1), Opens: d.Rain.Begin + opens[i], Entries: len(users), Winners: []Winner{}}
		leaves := make([]Hash, len(users))
		for j, user := range users {
			leaves[j] = Leaf(d.Sender, d.Key, w.Wave, user)
		}
		w.Root = hex.EncodeToString(rootBytes(leaves))
		for _, leaf := range sorted(leaves) {
			w.Leaves = append(w.Leaves, hex.EncodeToString(leaf[:]))
		}
		share := round.Next()
		for _, at := range round.Draw(i+1, Order(goldenSeed(), d.Sender, d.Key, w.Wave, leaves), func(j int) string { return users[j] }) {
			w.Winners = append(w.Winners, Winner{Participant{users[at], hex.EncodeToString(leaves[at][:])}, shares[share], share + 1})
			share++
		}
		d.Waves = append(d.Waves, w)
	}
	return d
}

func hashesOf(tb rapid.TB, texts []string) (all []Hash) {
	tb.Helper()
	for _, text := range texts {
		all = append(all, mustHash(tb, text))
	}
	return all
}

// goldenReceipts returns receipts of participants of proofs, genuine ones and forged ones.
func goldenReceipts(window Document) (all []receiptCase) {
	_, private := goldenReceipt()
	public := hex.EncodeToString(private.Public().(ed25519.PublicKey))
	receipt := func(packet string, wave uint32, user, leafOf string) Receipt {
		leaf := Leaf(window.Sender, window.Key, wave, leafOf)
		const at = 1_800_000_000_123
		return Receipt{
			Packet: packet, Wave: wave, User: user, Leaf: hex.EncodeToString(leaf[:]), At: at, Key: public,
			Signature: hex.EncodeToString(ed25519.Sign(private, ReceiptText(packet, wave, leaf, user, at))),
		}
	}
	late := receipt(window.Packet, 0, "u-0", "u-0")
	late.At++
	stranger := hex.EncodeToString(ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey))
	return []receiptCase{
		{"of a participant", public, true, "in", "many participants", receipt(window.Packet, 0, "u-0", "u-0")},
		{"of a participant that was left out", public, true, "out", "a participant left out", receipt(window.Packet, 0, "u-6", "u-6")},
		{"of the same participant, left in", public, true, "in", "many participants", receipt(window.Packet, 0, "u-6", "u-6")},
		{"with the leaf of another user", public, true, "wrong", "many participants", receipt(window.Packet, 0, "u-77", "u-0")},
		{"of a wave that there is not", public, true, "other", "many participants", receipt(window.Packet, 1, "u-0", "u-0")},
		{"of another packet", public, true, "other", "many participants", receipt("other", 0, "u-0", "u-0")},
		{"of a wave", public, true, "in", "a rain", receipt(window.Packet, 3, "u-0", "u-0")},
		{"of a wave that the user has not entered", public, true, "out", "a rain", receipt(window.Packet, 4, "u-0", "u-0")},
		{"of a packet without a draw", public, true, "other", "no draw", receipt(window.Packet, 0, "u-0", "u-0")},
		{"with another instant", public, false, "in", "many participants", late},
		{"by another server", stranger, false, "in", "many participants", receipt(window.Packet, 0, "u-0", "u-0")},
	}
}

func TestProofsGolden(t *testing.T) {
	f := goldenProofs(t)
	text := f.lines(t)
	if *update {
		if err := os.WriteFile("testdata/proofs.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile("testdata/proofs.json"); err != nil || string(stored) != string(text) {
		t.Errorf("testdata/proofs.json is old, or the arithmetic has changed: %v", err)
	}
	for _, c := range f.Proofs {
		findings, err := Check(c.Document)
		wrong := firstWrong(findings, err)
		if wrong != c.Wrong {
			t.Errorf("%s: %q is wrong, want %q: %v", c.Name, wrong, c.Wrong, err)
		}
	}
	for _, c := range f.Receipts {
		public := ed25519.PublicKey(mustHex(t, c.Public))
		if err := VerifyReceipt(public, c.Receipt); (err == nil) != c.Signed {
			t.Errorf("receipt %s: %v", c.Name, err)
		}
		at := slices.IndexFunc(f.Proofs, func(p proofCase) bool { return p.Name == c.Proof })
		if err := CheckReceipt(public, f.Proofs[at].Document, c.Receipt); !strings.Contains(fmt.Sprint(err), receiptVerdict(c)) {
			t.Errorf("receipt %s in the proof: %v", c.Name, err)
		}
	}
}

// receiptVerdict returns what CheckReceipt must say.
func receiptVerdict(c receiptCase) string {
	if !c.Signed {
		return "the signature is not by this key"
	}
	return map[string]string{
		"in": "<nil>", "out": "has left it out", "wrong": "the leaf is not that of the packet, wave and user", "other": "receipt: ",
	}[c.Leaf]
}

// lines encodes the file with one case a line.
func (f proofFile) lines(t *testing.T) []byte {
	t.Helper()
	text := new(bytes.Buffer)
	list := func(name string, n int, at func(i int) any) {
		fmt.Fprintf(text, "%q: [", name)
		for i := range n {
			line, err := json.Marshal(at(i))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				text.WriteString(",")
			}
			text.WriteString("\n")
			text.Write(line)
		}
		text.WriteString("\n]")
	}
	text.WriteString("{")
	list("proofs", len(f.Proofs), func(i int) any { return f.Proofs[i] })
	text.WriteString(",\n")
	list("receipts", len(f.Receipts), func(i int) any { return f.Receipts[i] })
	text.WriteString("}\n")
	return text.Bytes()
}

func firstWrong(findings []Finding, err error) string {
	for _, f := range findings {
		if !f.Holds {
			return f.What
		}
	}
	if err != nil {
		return "form"
	}
	return ""
}

// TestCheckAcceptsHonestProofs checks proofs with random terms and participants. A changed share or winner must be found.
func TestCheckAcceptsHonestProofs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(cuttings()).Draw(t, "cutting")
		count := rapid.IntRange(1, 6).Draw(t, "count")
		d := testTerms(c.Mode, c.Spread, rapid.Int64Range(200, 10_000).Draw(t, "total"), count)
		d.Rest = rapid.SampledFrom([]string{"", RestRefund, RestShare}).Draw(t, "rest")
		d = draw(t, d, testUsers(rapid.IntRange(0, 12).Draw(t, "participants")))
		if findings, err := Check(d); err != nil {
			t.Fatalf("%v: %v", err, findings)
		}
		if winners := d.Waves[0].Winners; len(winners) > 0 {
			winners[rapid.IntRange(0, len(winners)-1).Draw(t, "winner")].Amount++
			if _, err := Check(d); err == nil {
				t.Fatal("another amount is accepted")
			}
		}
	})
}

func TestFindingsAreLines(t *testing.T) {
	d := draw(t, testTerms(Lucky, Classic, 1_000, 3), testUsers(5))
	d.Waves[0].Winners[2].User = ""
	findings, err := Check(d)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(findings)
	for _, want := range []string{"commitment: OK, ", "root: OK, it covers 5 participants", "winners: OK, 3 of 5", "unnamed: OK, 1 of them"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	d.Waves[0].Winners[1].Rank = 7
	findings, err = Check(d)
	if err == nil || !strings.Contains(fmt.Sprint(findings), "has rank 7, want 2") {
		t.Errorf("%v: %v", err, findings)
	}
}

func TestReadDocument(t *testing.T) {
	text, err := json.Marshal(draw(t, testTerms(Lucky, Classic, 1_000, 3), testUsers(5)))
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDocument(strings.NewReader(string(text) + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check(d); err != nil {
		t.Error(err)
	}
	for what, text := range map[string]string{
		"nothing": "", "a list": "[]", "two documents": "{}{}", "half of it": string(text[:99]),
		"an unknown field": `{"comitment":"00"}`, "a nonce": `{"waves":[{"winners":[{"nonce":"00"}]}]}`, "a negative wave": `{"waves":[{"wave":-1}]}`,
	} {
		if _, err := ReadDocument(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// FuzzCheck passes any document to Check. A change of a proof that Check accepts may only concern what proves nothing.
func FuzzCheck(f *testing.F) {
	data, err := os.ReadFile("testdata/proofs.json")
	if err != nil {
		f.Fatal(err)
	}
	var file proofFile
	if err := json.Unmarshal(data, &file); err != nil {
		f.Fatal(err)
	}
	for _, c := range file.Proofs {
		text, err := json.Marshal(c.Document)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDocument(strings.NewReader(text))
		if err != nil || d.Count > 1_000 || d.Total > maxTotal {
			return
		}
		if _, err := Check(d); err != nil {
			return
		}
		seed, err := hashOf(d.Seed)
		if err != nil || Commitment(seed) != strings.ToLower(d.Commitment) {
			t.Fatalf("accepted with the seed %s", d.Seed)
		}
		paid := int64(0)
		for _, w := range d.Waves {
			if len(w.Winners) > w.Entries || string(rootBytes(hashesOf(t, w.Leaves))) != string(mustHex(t, w.Root)) {
				t.Fatalf("accepted with %d winners of %d, root %s", len(w.Winners), w.Entries, w.Root)
			}
			for _, winner := range w.Winners {
				paid += winner.Amount
			}
		}
		if paid > d.Total {
			t.Fatalf("accepted with %d paid of %d", paid, d.Total)
		}
	})
}
