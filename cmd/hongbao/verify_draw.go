package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"hongbao/redpacket/proof"
)

// receiptFlags name a receipt that a proof is asked for.
type receiptFlags struct{ file, key string }

// isDocument reports whether the text is a proof file with the packet's id. Documents without it have only what the shares depend on.
func isDocument(text []byte) bool {
	var head struct {
		Packet *json.RawMessage `json:"packet"`
	}
	return json.Unmarshal(text, &head) == nil && head.Packet != nil
}

// verifyDocument checks a proof file, and prints what it has checked and each winner. If a receipt is named, it must be in the proof.
func (p *program) verifyDocument(text []byte, receipt receiptFlags) error {
	d, err := proof.ReadDocument(bytes.NewReader(text))
	if err != nil {
		return err
	}
	findings, err := proof.Check(d)
	if findings == nil && err != nil {
		return err
	}
	for _, f := range findings {
		p.print(f.String() + "\n")
	}
	for _, w := range d.Waves {
		p.printWinners(w)
	}
	if receipt.file != "" {
		err = errors.Join(err, p.verifyReceipt(d, receipt))
	}
	if err != nil {
		return errFailedCheck
	}
	return nil
}

func (p *program) printWinners(w proof.Wave) {
	for _, winner := range w.Winners {
		user := strconv.Quote(winner.User)
		if winner.User == "" {
			user = "an erased user"
		}
		p.print(fmt.Sprintf("winner: share %d: %d to %s\n", winner.Rank, winner.Amount, user))
	}
}

// verifyReceipt prints whether the receipt is in the proof, and returns an error if not.
func (p *program) verifyReceipt(d proof.Document, flags receiptFlags) error {
	text, err := p.readInput(flags.file)
	if err != nil {
		return err
	}
	var r proof.Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return p.receiptVerdict(fmt.Errorf("cannot read it: %w", err), "")
	}
	holds := "the server has signed it, and its leaf takes part"
	if flags.key == "" {
		flags.key = r.Key
		holds = "it is signed with the key in it, and its leaf takes part; compare the key with the server's"
	}
	public, err := hex.DecodeString(flags.key)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return p.receiptVerdict(fmt.Errorf("the key must have %d hex digits", 2*ed25519.PublicKeySize), "")
	}
	return p.receiptVerdict(proof.CheckReceipt(public, d, r), holds)
}

func (p *program) receiptVerdict(err error, holds string) error {
	no := ""
	if err != nil {
		no = err.Error()
	}
	p.print(verdict("receipt", err == nil, holds, no))
	return err
}
