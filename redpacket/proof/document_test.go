package proof

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/proofs.json")

// proofFile is testdata/proofs.json. Tests of the browser SDK, of the page that checks proofs, and of the verifier in Python read it, too.
type proofFile struct {
	Proofs   []proofCase   `json:"proofs"`
	Receipts []receiptCase `json:"receipts"`
	Offsets  []offsetsCase `json:"offsets"`
	Held     []heldCase    `json:"held"`
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
	Leaf    bool    `json:"leaf"`   // the leaf is among those of the proof
	Proof   string  `json:"proof"`  // name of the proof
	Receipt Receipt `json:"receipt"`
}

type offsetsCase struct {
	Seed       string  `json:"seed"`
	Sender     string  `json:"sender"`
	Key        string  `json:"key"`
	Waves      int     `json:"waves"`
	DurationMS int64   `json:"duration_ms"`
	Offsets    []int64 `json:"offsets"`
}

type heldCase struct {
	Seed   string `json:"seed"`
	Sender string `json:"sender"`
	Key    string `json:"key"`
	Count  int    `json:"count"`
	Held   int    `json:"held"`
	Ranks  []int  `json:"ranks"`
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

func testNonce(user string, wave uint32) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", user, wave))
	return sum[:nonceSize]
}

// draw completes a document as a server does. participants has the users of each wave.
func draw(tb rapid.TB, d Document, participants ...[]string) Document {
	tb.Helper()
	parts, maxWins, offsets := d.Count, 0, make([]time.Duration, len(participants))
	if d.Rain != nil {
		var err error
		if offsets, err = Offsets(goldenSeed(), d.Sender, d.Key, d.Rain.Waves, time.Duration(d.Rain.DurationMS)*time.Millisecond); err != nil {
			tb.Fatal(err)
		}
		parts, maxWins = parts*d.Rain.Waves, d.Rain.MaxWins
	} else if d.Rest == RestShare {
		parts = min(parts, len(participants[0]))
	}
	var shares []int64
	if parts > 0 {
		shares = mustCut(tb, goldenSeed(), Terms{d.Sender, d.Key, d.Mode, d.Spread, d.Total, parts})
	}
	var earlier []Win
	for i, users := range participants {
		w := Wave{OffsetMS: offsets[i].Milliseconds(), Entries: len(users), Winners: []Winner{}}
		if d.Rain != nil {
			w.Wave = uint32(i + 1)
		}
		all, leaves := make([]Participant, len(users)), make([]Hash, len(users))
		for k, user := range users {
			nonce := testNonce(user, w.Wave)
			leaves[k] = Leaf(d.Packet, w.Wave, user, nonce)
			all[k] = Participant{User: user, Nonce: hex.EncodeToString(nonce), ServerNonce: k%5 == 4, Leaf: hex.EncodeToString(leaves[k][:])}
		}
		root := Root(leaves)
		order := Order(goldenSeed(), d.Packet, w.Wave, root, leaves)
		w.Root = hex.EncodeToString(root[:])
		for _, leaf := range sorted(leaves) {
			w.Leaves = append(w.Leaves, hex.EncodeToString(leaf[:]))
		}
		names := make([]string, len(order))
		for k, at := range order {
			names[k] = users[at]
		}
		wins, passed := Deal(max(1, w.Wave), d.Count, maxWins, names, earlier)
		byUser := map[string]Participant{}
		for _, p := range all {
			byUser[p.User] = p
		}
		for _, win := range wins {
			w.Winners = append(w.Winners, Winner{byUser[win.User], shares[win.Rank-1], win.Rank})
		}
		for _, place := range passed {
			w.Passed = append(w.Passed, byUser[names[place]])
		}
		earlier = append(earlier, wins...)
		d.Waves = append(d.Waves, w)
	}
	return d
}

// goldenRain returns a rain in which a wave has no participants, one leaves shares, and users are passed over.
func goldenRain(tb rapid.TB) Document {
	tb.Helper()
	d := testTerms(Lucky, Classic, 5_000, 3)
	d.Rain = &Rain{Waves: 5, DurationMS: 20_000, MaxWins: 1}
	users := testUsers(12)
	return draw(tb, d, users[:5], nil, users[:1], users[2:], users)
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
	add("rain", "", goldenRain(t))
	twice := testTerms(Equal, "", 100, 2)
	twice.Rain = &Rain{Waves: 3, DurationMS: 10_000, MaxWins: 2}
	add("rain, two shares each", "", draw(t, twice, testUsers(3), testUsers(3), testUsers(4)))
	held := testTerms(Lucky, Classic, 1_000, 10)
	held.Held = HeldRanks(goldenSeed(), held.Sender, held.Key, 10, 4)
	held.Shares = mustCut(t, goldenSeed(), Terms{held.Sender, held.Key, held.Mode, held.Spread, held.Total, held.Count})
	add("held ranks", "", held)

	erased := goldenRain(t)
	user := erased.Waves[0].Winners[0].User
	for i := range erased.Waves {
		erase(&erased.Waves[i], user)
	}
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
	const many, rest, rain, holds = 0, 2, 5, 7
	other := leafSeries("forged", 1)[0]
	forge("another seed", "commitment", many, func(d *Document) { d.Seed = strings.Repeat("0", 64) })
	forge("another commitment", "commitment", many, func(d *Document) { d.Commitment = strings.Repeat("0", 64) })
	forge("another packet", "winners", many, func(d *Document) { d.Packet = "other" })
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
	forge("another nonce", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Nonce = strings.Repeat("0", 32) })
	forge("a short nonce", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Nonce = "00" })
	forge("another amount", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Amount++ })
	forge("another rank", "winners", many, func(d *Document) { d.Waves[0].Winners[0].Rank++ })
	forge("passed over without a rain", "winners", many, func(d *Document) { d.Waves[0].Passed = []Participant{d.Waves[0].Winners[0].Participant} })
	forge("refunded instead of shared", "winners", rest, func(d *Document) { d.Rest = RestRefund })
	forge("a user with two entries", "winners", many, func(d *Document) { *d = twiceIn(t, *d) })

	forge("a wave moved", "offsets", rain, func(d *Document) { d.Waves[1].OffsetMS++ })
	forge("too many waves for the duration", "offsets", rain, func(d *Document) { d.Rain.DurationMS = 8_000 })
	forge("another limit", "winners", rain, func(d *Document) { d.Rain.MaxWins = 2 })
	forge("a user above the limit", "winners", rain, func(d *Document) { d.Waves[3].Passed = nil })
	forge("a user passed over without a reason", "winners", rain, func(d *Document) {
		w := &d.Waves[0]
		w.Passed, w.Winners = []Participant{w.Winners[0].Participant}, w.Winners[1:]
	})
	forge("waves swapped", "form", rain, func(d *Document) { d.Waves[0], d.Waves[1] = d.Waves[1], d.Waves[0] })
	forge("a wave left out", "form", rain, func(d *Document) { d.Waves = d.Waves[:4] })
	forge("waves of no rain", "form", rain, func(d *Document) { d.Rain = nil })
	forge("a rain that shares its rest", "form", rain, func(d *Document) { d.Rest = RestShare })
	forge("no duration", "form", rain, func(d *Document) { d.Rain.DurationMS = 0 })
	forge("held ranks of another key", "shares", holds, func(d *Document) { d.Key = "k-2" })
	forge("other held ranks", "held", holds, func(d *Document) { d.Held[0]++ })
	forge("one held rank more", "held", holds, func(d *Document) { d.Held = append(d.Held, 11) })
	forge("held ranks in a draw", "form", many, func(d *Document) { d.Held = []int{1} })
	forge("an unknown rest", "form", many, func(d *Document) { d.Rest = "keep" })
	forge("a short seed", "form", many, func(d *Document) { d.Seed = "00" })
	forge("no sender", "form", many, func(d *Document) { d.Sender = "" })
	forge("no shares", "form", many, func(d *Document) { d.Count = 0 })
	forge("too many shares", "form", many, func(d *Document) { d.Count = maxShares + 1 })

	f.Receipts = goldenReceipts(f.Proofs[many].Document, f.Proofs[rain].Document)
	for i, waves := range []int{1, 3, 10, 100} {
		seed, span := testSeed("golden offsets", i), int64(waves*2_500)
		offsets, err := Offsets(seed, "u-1", "键-1", waves, time.Duration(span)*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		c := offsetsCase{hex.EncodeToString(seed[:]), "u-1", "键-1", waves, span, nil}
		for _, offset := range offsets {
			c.Offsets = append(c.Offsets, offset.Milliseconds())
		}
		f.Offsets = append(f.Offsets, c)
		f.Held = append(f.Held, heldCase{hex.EncodeToString(seed[:]), "u-1", "键-1", waves, waves/2 + 1, HeldRanks(seed, "u-1", "键-1", waves, waves/2+1)})
	}
	return f
}

// erase does what the erasure of a user does to the wave of a proof: the leaf stays.
func erase(w *Wave, user string) {
	for i := range w.Winners {
		if w.Winners[i].User == user {
			w.Winners[i].User, w.Winners[i].Nonce = "", ""
		}
	}
	for i := range w.Passed {
		if w.Passed[i].User == user {
			w.Passed[i].User, w.Passed[i].Nonce = "", ""
		}
	}
}

func hashesOf(tb rapid.TB, texts []string) (all []Hash) {
	tb.Helper()
	for _, text := range texts {
		all = append(all, mustHash(tb, text))
	}
	return all
}

// twiceIn returns the proof of a server that has entered one user twice, with two nonces. All shares go to this user.
func twiceIn(tb rapid.TB, d Document) Document {
	tb.Helper()
	d.Waves, d.Count = nil, 2
	d = draw(tb, d, []string{"u-1", "u-2"})
	w := &d.Waves[0]
	leaves := make([]Hash, 2)
	for i := range leaves {
		leaves[i] = Leaf(d.Packet, 0, "u-1", testNonce("twice", uint32(i)))
	}
	w.Root = hex.EncodeToString(rootBytes(leaves))
	for i, leaf := range sorted(leaves) {
		w.Leaves[i] = hex.EncodeToString(leaf[:])
	}
	for i, at := range Order(goldenSeed(), d.Packet, 0, Root(leaves), leaves) {
		w.Winners[i].Participant = Participant{User: "u-1", Nonce: hex.EncodeToString(testNonce("twice", uint32(at))), Leaf: hex.EncodeToString(leaves[at][:])}
	}
	return d
}

// goldenReceipts returns receipts of participants of two proofs, genuine ones and forged ones.
func goldenReceipts(window, rain Document) (all []receiptCase) {
	_, private := goldenReceipt()
	public := hex.EncodeToString(private.Public().(ed25519.PublicKey))
	receipt := func(packet string, wave uint32, user string) Receipt {
		nonce := testNonce(user, wave)
		leaf := Leaf(packet, wave, user, nonce)
		const at = 1_800_000_000_123
		return Receipt{
			Packet: packet, Wave: wave, User: user, Leaf: hex.EncodeToString(leaf[:]), Nonce: hex.EncodeToString(nonce), At: at, Key: public,
			Signature: hex.EncodeToString(ed25519.Sign(private, ReceiptText(packet, wave, leaf, nonce, user, at))),
		}
	}
	late := receipt(window.Packet, 0, "u-0")
	late.At++
	stranger := hex.EncodeToString(ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey))
	return []receiptCase{
		{"of a participant", public, true, true, "many participants", receipt(window.Packet, 0, "u-0")},
		{"of a participant of a rain", public, true, true, "rain", receipt(rain.Packet, 1, "用户1")},
		{"of a participant that was left out", public, true, false, "many participants", receipt(window.Packet, 0, "u-77")},
		{"of another wave", public, true, false, "rain", receipt(rain.Packet, 2, "用户1")},
		{"of a wave that there is not", public, true, false, "rain", receipt(rain.Packet, 9, "用户1")},
		{"of another packet", public, true, false, "rain", receipt("other", 1, "用户1")},
		{"with another instant", public, false, true, "many participants", late},
		{"by another server", stranger, false, true, "many participants", receipt(window.Packet, 0, "u-0")},
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
		if err := CheckReceipt(public, f.Proofs[at].Document, c.Receipt); (err == nil) != (c.Signed && c.Leaf) {
			t.Errorf("receipt %s in the proof: %v", c.Name, err)
		}
	}
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
	text.WriteString(",\n")
	list("offsets", len(f.Offsets), func(i int) any { return f.Offsets[i] })
	text.WriteString(",\n")
	list("held", len(f.Held), func(i int) any { return f.Held[i] })
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
		waves := rapid.IntRange(0, 6).Draw(t, "waves")
		if waves > 0 {
			d.Rain = &Rain{Waves: waves, DurationMS: 20_000, MaxWins: rapid.IntRange(0, 3).Draw(t, "max wins")}
		} else {
			d.Rest = rapid.SampledFrom([]string{"", RestRefund, RestShare}).Draw(t, "rest")
		}
		participants := make([][]string, max(1, waves))
		for i := range participants {
			participants[i] = testUsers(rapid.IntRange(0, 12).Draw(t, "participants"))
		}
		d = draw(t, d, participants...)
		if findings, err := Check(d); err != nil {
			t.Fatalf("%v: %v", err, findings)
		}
		for i := range d.Waves {
			if len(d.Waves[i].Winners) > 0 {
				d.Waves[i].Winners[0].Amount++
				if _, err := Check(d); err == nil {
					t.Fatalf("wave %d: another amount is accepted", i)
				}
				break
			}
		}
	})
}

func TestFindingsAreLines(t *testing.T) {
	d := goldenRain(t)
	findings, err := Check(d)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(findings)
	for _, want := range []string{"commitment: OK, ", "offsets: OK, ", "root of wave 1: OK, it covers 5 participants", "winners of wave 2: OK, 0 of 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	d.Waves[1].OffsetMS = 7
	findings, err = Check(d)
	if err == nil || !strings.Contains(fmt.Sprint(findings), "offsets: WRONG, wave 2 came after 7 ms") {
		t.Errorf("%v: %v", err, findings)
	}
}

func TestReadDocument(t *testing.T) {
	text, err := json.Marshal(goldenRain(t))
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
		"an unknown field": `{"comitment":"00"}`, "a negative wave": `{"waves":[{"wave":-1}]}`,
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
		if err != nil || d.Count > 1_000 || d.Rain != nil && d.Rain.Waves > 100 || d.Total > maxTotal {
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
