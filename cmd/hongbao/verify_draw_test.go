package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestVerifyDraw checks the proofs and receipts that package proof has the verdicts of.
func TestVerifyDraw(t *testing.T) {
	var golden struct {
		Proofs []struct {
			Name, Wrong string
			Document    json.RawMessage
		}
		Receipts []struct {
			Name, Public, Proof string
			Signed              bool
			Leaf                string
			Receipt             json.RawMessage
		}
	}
	text, err := os.ReadFile("../../redpacket/proof/testdata/proofs.json")
	noError(t, err)
	noError(t, json.Unmarshal(text, &golden))
	files := map[string]string{}
	for _, c := range golden.Proofs {
		files[c.Name] = writeFile(t, string(c.Document))
		code, out, stderr := call(t, "", nil, "verify", "--file", files[c.Name])
		want := map[string]string{"": "commitment: OK", "form": "proof: "}[c.Wrong]
		if want == "" {
			want = c.Wrong
		}
		if (code == 0) != (c.Wrong == "") || strings.Contains(out, "WRONG") != (c.Wrong != "" && c.Wrong != "form") || !strings.Contains(out+stderr, want) {
			t.Errorf("%s: exit code %d, want an output with %q:\n%s%s", c.Name, code, want, out, stderr)
		}
	}
	mustPrint(t, 0, "winner: share 1: ", "verify", "--file", files["many participants"])
	for _, line := range []string{
		"instant: OK, wave 3: ", "root: OK, wave 3: it covers 9 participants", "winners: OK, wave 3: 4 of 9", "winner: share 6: 197 to ", "winner: share 8: 139 to ",
	} {
		mustPrint(t, 0, line, "verify", "--file", files["a rain"])
	}
	mustPrint(t, 0, "ended: OK, the rain has ended after 2 of 4 waves", "verify", "--file", files["a rain that has ended early"])
	mustPrint(t, 1, "instant: WRONG, wave 3: ", "verify", "--file", files["a wave moved"])
	mustPrint(t, 1, "winners: WRONG, wave 3: ", "verify", "--file", files["a winner over max_wins"])
	mustPrint(t, 0, "to an erased user", "verify", "--file", files["an erased user"])
	for _, c := range golden.Receipts {
		receipt := writeFile(t, string(c.Receipt))
		if c.Signed && c.Leaf == "in" {
			mustPrint(t, 0, "receipt: OK, the server has signed it", "verify", "--file", files[c.Proof], "--receipt", receipt, "--receipt-key", c.Public)
			mustPrint(t, 0, "compare the key", "verify", "--file", files[c.Proof], "--receipt", receipt)
		} else {
			mustPrint(t, 1, "receipt: WRONG", "verify", "--file", files[c.Proof], "--receipt", receipt, "--receipt-key", c.Public)
		}
	}
	mustPrint(t, 1, "receipt: WRONG, the key must have 64 hex digits", "verify", "--file", files["many participants"], "--receipt", writeFile(t, "{}"))
	mustPrint(t, 1, "receipt: WRONG, cannot read it", "verify", "--file", files["many participants"], "--receipt", writeFile(t, "7"))
	mustPrint(t, 1, "needs a proof file of a draw", "verify", "--file", writeFile(t, examplePacket), "--receipt", writeFile(t, "{}"))
}
