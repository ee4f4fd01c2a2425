package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// checkerCases are the parts of the golden proofs that the test of docs/verify.html needs.
type checkerCases struct {
	Proofs []struct {
		Name, Wrong string
		Document    json.RawMessage
	}
	Receipts []struct {
		Name, Public string
		Receipt      json.RawMessage
	}
}

// TestBrowserChecker opens docs/verify.html from the disk, gives it proofs and receipts, and reads what it says.
func TestBrowserChecker(t *testing.T) {
	enginetest.Nightly(t, "page")
	var golden checkerCases
	text, err := os.ReadFile("../redpacket/proof/testdata/proofs.json")
	mustSucceed(t, err)
	mustSucceed(t, json.Unmarshal(text, &golden))
	proof := func(name string) string {
		for _, c := range golden.Proofs {
			if c.Name == name {
				return string(c.Document)
			}
		}
		t.Fatalf("there is no proof %q", name)
		return ""
	}
	receipt := func(name string) (text, public string) {
		for _, c := range golden.Receipts {
			if c.Name == name {
				return string(c.Receipt), c.Public
			}
		}
		t.Fatalf("there is no receipt %q", name)
		return "", ""
	}
	file, err := filepath.Abs("docs/verify.html")
	mustSucceed(t, err)
	axe, err := os.ReadFile("../cmd/hongbao/e2e/browser/testdata/axe/axe.min.js")
	mustSucceed(t, err)
	v := webtest.Browser(t).Visit(t, "file://"+filepath.ToSlash(file), webtest.Screen{})
	accessible := func(where string) {
		t.Helper()
		v.Screenshot(where)
		webtest.Ask[bool](v.Tab, string(axe)+"; true")
		for _, found := range webtest.Ask[[]string](v.Tab, `axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
			violations.map((f) => f.id + ': ' + f.nodes.map((n) => n.html).join(' ')))`) {
			t.Errorf("%s: axe finds %s", where, found)
		}
	}
	// The fields and the button are set by scripts: Visitor presses only what pages show that do not scroll as a whole.
	fill := func(id, text string) {
		quoted, err := json.Marshal(text)
		mustSucceed(t, err)
		webtest.Ask[bool](v.Tab, `document.getElementById('`+id+`').value = `+string(quoted)+`; true`)
	}
	press := func() { webtest.Ask[bool](v.Tab, `document.querySelector('[type=submit]').click(); true`) }
	accessible("empty")

	good, public := receipt("of a participant")
	fill("proof", proof("many participants"))
	fill("receipt", good)
	press()
	v.Sees("All of this proof holds", "The root covers exactly the 9 participants", "3 of 9 won", "The receipt is signed with the key in it",
		"You took part: your entry is among the 9 participants.", "Winners")
	fill("key", public)
	press()
	v.Sees("The key has signed this receipt.")
	accessible("good")

	left, _ := receipt("of a participant that was left out")
	fill("proof", proof("a participant left out"))
	fill("receipt", left)
	press()
	v.Sees("you can prove with it that the server left you out")
	fill("proof", proof("many participants"))
	changed, _ := receipt("with another instant")
	fill("receipt", changed)
	press()
	v.Sees("The signature does not fit")
	fill("receipt", `{"user": "u-99"}`)
	press()
	v.Sees("There is no signature.", "Your entry is not among the participants.")
	fill("receipt", `{}`)
	press()
	v.Sees("The entry in the receipt is not that of its user")
	fill("receipt", ``)

	fill("proof", proof("winners swapped"))
	press()
	v.Sees("Something in this proof does not hold", "Those who won are not those")
	fill("proof", proof("two draws"))
	press()
	v.Sees("The proof file is incomplete")
	for _, odd := range []string{"", "7", "{", "[]"} {
		fill("proof", odd)
		press()
		v.Sees("This is no proof file")
	}
	fill("proof", `{"waves": [null, {"winners": [null]}]}`)
	press()
	v.Sees("The proof file is incomplete")

	fill("proof", proof("an erased user"))
	press()
	v.Sees("were erased since", "erased user")
	webtest.Ask[bool](v.Tab, `document.getElementById('language').click(); true`)
	v.Sees("这份证明全部属实", "中奖名单", "已清除的用户")
	v.SetScreen(webtest.Screen{Phone: true, Dark: true})
	accessible("Chinese, on a phone in the dark")

	for _, c := range golden.Proofs {
		want := "这份证明全部属实"
		if c.Wrong != "" {
			want = "这份证明中有内容不符"
		}
		fill("proof", string(c.Document))
		press()
		if got := webtest.Ask[string](v.Tab, `new Promise((done) => setTimeout(() => done(document.querySelector('#result h2').textContent), 10))`); got != want {
			t.Errorf("%s: the page says %q, want %q", c.Name, got, want)
		}
	}
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
