package proof

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"hongbao/store/enginetest"
)

// TestOtherVerifier checks the golden proofs and draws with a program in Python that shares no code with hongbao. It must accept and
// refuse the same ones.
func TestOtherVerifier(t *testing.T) {
	python := enginetest.Program(t, "python3")
	cases := goldenProofs(t).Proofs
	for _, v := range drawVectors(t) {
		if v.Wave == 0 {
			cases = append(cases, proofCase{"golden draw of " + v.Entries[0].User, "", v.document(t)})
		}
	}
	for _, c := range cases {
		text, err := json.Marshal(c.Document)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python, "testdata/verify_draw.py")
		var faults bytes.Buffer
		cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &faults
		out, err := cmd.Output()
		if said := strings.TrimSpace(string(out)); (err == nil) != (c.Wrong == "") || (said == "OK") != (c.Wrong == "") || said == "" || faults.Len() > 0 {
			t.Errorf("%s: the other program says %q, %v, %s", c.Name, said, err, faults.String())
		}
		if _, err := Check(c.Document); (err == nil) != (c.Wrong == "") {
			t.Errorf("%s: Check says %v", c.Name, err)
		}
	}
}

// TestGoldenDrawsAreOfAnotherProgram makes testdata/draw.json once more with a program in Python that shares no code with hongbao.
func TestGoldenDrawsAreOfAnotherProgram(t *testing.T) {
	want, err := exec.CommandContext(t.Context(), enginetest.Program(t, "python3"), "testdata/make_draw.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := os.ReadFile("testdata/draw.json"); err != nil || !bytes.Equal(stored, want) {
		t.Errorf("testdata/draw.json is not what make_draw.py writes: %v", err)
	}
}

// document returns the proof of the draw, with the terms of testTerms.
func (v drawVector) document(t *testing.T) Document {
	t.Helper()
	d := testTerms(Lucky, Classic, 1_000, v.Count)
	d.Sender, d.Key, d.Seed, d.Commitment = v.Sender, v.Key, v.Seed, Commitment(Seed(mustHash(t, v.Seed)))
	shares := mustCut(t, Seed(mustHash(t, v.Seed)), Terms{d.Sender, d.Key, d.Mode, d.Spread, d.Total, d.Count})
	w := Wave{Root: v.Root, Entries: len(v.Entries), Winners: []Winner{}}
	for _, leaf := range sorted(v.leaves(t)) {
		w.Leaves = append(w.Leaves, hex.EncodeToString(leaf[:]))
	}
	for i, user := range v.Winners {
		for _, entry := range v.Entries {
			if entry.User == user {
				w.Winners = append(w.Winners, Winner{Participant{User: user, Leaf: entry.Leaf}, shares[i], i + 1})
			}
		}
	}
	d.Waves = []Wave{w}
	return d
}
