package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"hongbao/chat"
	"hongbao/redpacket"
)

// shareProof has the fields that determine the shares of a finished packet, and the shares: see web/docs/protocol/proof.md.
type shareProof struct {
	Sender     string            `json:"sender"`
	Key        string            `json:"key"`
	Mode       redpacket.Mode    `json:"mode"`
	Spread     redpacket.Spread  `json:"spread"`
	Total      int64             `json:"total"`
	Count      int               `json:"count"`
	Seed       string            `json:"seed"`
	Commitment string            `json:"commitment"`
	Shares     []redpacket.Money `json:"shares"`
}

func verifyCommand() command {
	return command{name: "verify", summary: "recompute a finished packet's shares and the winners of its draw; exits 1 if they do not match", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		var q shareProof
		file := fs.String("file", "", "proof file, as proof.md describes it, or {sender, key, mode, spread, total, count, seed, commitment, shares?}; without it and --seed: standard input")
		var receipt receiptFlags
		fs.StringVar(&receipt.file, "receipt", "", "receipt of a draw, as a JSON file: is it in the proof file?")
		fs.StringVar(&receipt.key, "receipt-key", "", "the server's public key of receipts, in hex; empty: the one in the receipt, which the server may deny")
		fs.StringVar(&q.Seed, "seed", "", "revealed seed in hex; then the packet comes from these flags")
		fs.StringVar(&q.Commitment, "commitment", "", "what the packet carried, in hex")
		fs.StringVar(&q.Sender, "sender", "", "id of the sender")
		fs.StringVar(&q.Key, "key", "", "the sender's key")
		fs.StringVar((*string)(&q.Mode), "mode", string(redpacket.Lucky), "lucky or equal")
		fs.StringVar((*string)(&q.Spread), "spread", "", "calm, classic or wild; empty: what the mode has")
		fs.Int64Var(&q.Total, "total", 0, "in minor units")
		fs.IntVar(&q.Count, "count", 0, "how many shares")
		fs.Func("shares", "what was paid, in order of rank, separated by commas; empty: not compared", func(text string) error {
			return json.Unmarshal([]byte("["+text+"]"), &q.Shares)
		})
		return func(_ context.Context, p *program) error {
			if q.Seed == "" {
				text, err := p.readInput(*file)
				if err != nil {
					return err
				}
				if isDocument(text) {
					return p.verifyDocument(text, receipt)
				}
				if err := readProof(text, &q); err != nil {
					return err
				}
			} else if q.Spread == "" && q.Mode == redpacket.Lucky {
				q.Spread = redpacket.Classic
			}
			if receipt.file != "" {
				return errors.New("--receipt needs a proof file of a draw")
			}
			return p.verify(q)
		}
	}}
}

// readInput reads a file; "": standard input.
func (p *program) readInput(file string) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	return io.ReadAll(p.stdin)
}

func readProof(text []byte, q *shareProof) error {
	*q = shareProof{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a misspelt field would silently not be compared
	if err := decoder.Decode(q); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return fmt.Errorf("cannot read the packet's proof: %w; `hongbao help verify` shows its form", err)
	}
	return nil
}

func (p *program) verify(q shareProof) error {
	seed, err := q.check()
	if err != nil {
		return err
	}
	shares, err := redpacket.Cut(seed, redpacket.Packet{
		From: chat.User{ID: q.Sender}, Key: q.Key, Mode: q.Mode, Spread: q.Spread, Total: redpacket.Money(q.Total), Count: q.Count,
	})
	if err != nil {
		return err
	}
	p.print("shares: " + strings.Trim(fmt.Sprint(shares), "[]") + "\n")
	matches := redpacket.Commitment(seed) == strings.ToLower(q.Commitment)
	p.print(verdict("commitment", matches, "it is the SHA-256 of the seed", "it is not the SHA-256 of the seed: the seed was changed afterwards"))
	if q.Shares != nil {
		same := slices.Equal(shares, q.Shares)
		p.print(verdict("shares", same, "they follow from the seed", "they do not follow from the seed, sender, key, mode, spread, total and count"))
		matches = matches && same
	}
	if !matches {
		return errFailedCheck
	}
	return nil
}

func verdict(what string, good bool, yes, no string) string {
	if good {
		return what + ": OK, " + yes + "\n"
	}
	return what + ": WRONG, " + no + "\n"
}

// check returns the packet's seed. It returns an error if a field that the proof needs is missing or out of range.
func (q shareProof) check() (redpacket.Seed, error) {
	var seed redpacket.Seed
	raw, err := hex.DecodeString(q.Seed)
	switch {
	case err != nil || len(raw) != len(seed):
		return seed, fmt.Errorf("the seed must have %d hex digits", 2*len(seed))
	case q.Sender == "" || q.Key == "" || q.Commitment == "":
		return seed, errors.New("sender, key and commitment are needed: the shares depend on the first two, the proof on the third")
	case q.Count < 1 || q.Count > maxCount || q.Total > maxAmount:
		return seed, fmt.Errorf("count must be 1 to %d, total at most %d", maxCount, maxAmount)
	}
	copy(seed[:], raw)
	return seed, nil
}
