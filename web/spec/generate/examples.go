package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

// exampleSet holds examples of requests and replies by the name of the method, and of messages by their names in the AsyncAPI document.
type exampleSet struct {
	requests, replies map[string]json.RawMessage
	frames            map[string]json.RawMessage // golden frames, by the names of their files
	messages          map[string]json.RawMessage // whole frames
	server            map[string]json.RawMessage // replies of the server API, by the name of the operation
	events            map[string]json.RawMessage // by kind
}

// readExamples reads the examples of commands from the protocol pages (requests), and those of replies, pushes and errors from
// the golden frames. It reads those of the server API from host/server/testdata, and takes those of endpoints from endpointExamples.
// web is the path of the folder web.
func readExamples(web string) (exampleSet, error) {
	all := exampleSet{requests: map[string]json.RawMessage{}, replies: map[string]json.RawMessage{}, frames: map[string]json.RawMessage{}, messages: map[string]json.RawMessage{}}
	files := os.DirFS(web)
	pages, err := fs.Glob(files, "docs/protocol/*.md")
	if err != nil {
		return all, err
	}
	for _, page := range pages {
		if err := all.readPage(files, page); err != nil {
			return all, fmt.Errorf("%s: %w", page, err)
		}
	}
	frames, err := fs.Glob(files, "wire/testdata/*.json")
	if err != nil {
		return all, err
	}
	for _, name := range frames {
		if err := all.readFrame(files, name); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, e := range endpointExamples {
		all.replies[name] = encoded(e.reply)
		if e.request != nil {
			all.requests[name] = encoded(e.request)
		}
	}
	if all.server, err = readAnswers(files, "host/server/testdata/replies"); err != nil {
		return all, err
	}
	all.events, err = readAnswers(files, "host/server/testdata/events")
	return all, err
}

// readAnswers reads what TestExamplesOfTheServerAPI or TestExamplesOfEvents has recorded in a folder, by the names of the files.
func readAnswers(files fs.FS, folder string) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	names, err := fs.Glob(files, folder+"/*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no answers", folder)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(path.Base(name), ".json")] = text
	}
	return all, nil
}

// frame is a message of the socket, as far as examples are concerned.
type frame struct {
	RPC *struct {
		Method string          `json:"method"`
		Data   json.RawMessage `json:"data"`
	} `json:"rpc"`
	Connect json.RawMessage `json:"connect"`
	Refresh json.RawMessage `json:"refresh"`
	Send    json.RawMessage `json:"send"`
	Push    json.RawMessage `json:"push"`
	Error   json.RawMessage `json:"error"`
}

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)\n```")

// readPage takes from a page the first example of each command that has none yet.
func (all exampleSet) readPage(files fs.FS, page string) error {
	text, err := fs.ReadFile(files, page)
	if err != nil {
		return err
	}
	for _, block := range jsonBlock.FindAllSubmatch(text, -1) {
		decoder := json.NewDecoder(bytes.NewReader(block[1]))
		for decoder.More() {
			var text json.RawMessage
			var f frame
			err := decoder.Decode(&text)
			if err == nil {
				err = json.Unmarshal(text, &f)
			}
			if err != nil {
				return fmt.Errorf("example %s: %w", block[1], err)
			}
			switch {
			case f.RPC != nil && f.RPC.Method != "":
				keepFirst(all.requests, f.RPC.Method, f.RPC.Data)
				keepFirst(all.messages, "command."+f.RPC.Method, text)
			case f.Connect != nil && !strings.Contains(string(f.Connect), "session"): // a reply has a session
				keepFirst(all.messages, "command.connect", text)
			case f.Refresh != nil && strings.Contains(string(f.Refresh), "token"):
				keepFirst(all.messages, "command.refresh", text)
			case f.Send != nil:
				keepFirst(all.messages, "command.typing", text)
			}
		}
	}
	return nil
}

// readFrame takes the golden frame of a file as an example. For example, reply-grab.json is the example of the reply of grab.
// reply-grab-empty.json gets the name grab-empty, which nothing reads, because no method has it.
func (all exampleSet) readFrame(files fs.FS, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	name = strings.TrimSuffix(path.Base(name), ".json")
	all.frames[name] = text
	kind, rest, _ := strings.Cut(name, "-")
	switch {
	case kind == "reply" && f.RPC != nil:
		all.replies[rest] = f.RPC.Data
		all.messages["reply."+rest] = text
	case kind == "connect" || kind == "refresh":
		all.messages["reply."+kind] = text
	case kind == "error" && rest == "muted":
		all.messages["error"] = text
	case kind == "push" && (rest == "subscribe" || rest == "unsubscribe"):
		all.messages["push."+rest] = text
	case kind == "push":
		all.messages["push."+rest], all.messages["entry."+rest] = text, text
		of, _, _ := strings.Cut(rest, "-")
		keepFirst(all.messages, "entry."+of, text) // golden frames of members have a variant in each name
	}
	return nil
}

func keepFirst(all map[string]json.RawMessage, name string, example json.RawMessage) {
	if _, ok := all[name]; !ok {
		all[name] = example
	}
}

// encoded encodes an example of package wire or hostapi. It panics if the example cannot be encoded.
func encoded(v any) json.RawMessage {
	text, err := wire.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("generate: example %T: %v", v, err))
	}
	return text
}

// endpointExamples holds the examples of the endpoints, by the names of their methods.
var endpointExamples = map[string]struct{ request, reply any }{
	"credit": {
		wire.AdjustRequest{User: "u-ann", Amount: 10000, Key: "order-17", Note: "Refund of order 17", RequestID: "order-17", Reason: "returned goods"},
		wire.AdjustReply{Balance: 10000, AccountVersion: 1},
	},
	"debit": {
		wire.AdjustRequest{User: "u-ann", Amount: 2500, Key: "payout-3", RequestID: "payout-3", Reason: "payout to a bank account"},
		wire.AdjustReply{Balance: 7500, AccountVersion: 2},
	},
	"disconnect": {wire.DisconnectRequest{User: "u-ann"}, wire.DisconnectReply{}},
	"audit": {nil, wire.AuditReply{
		OK: true, Funded: 20000, InWallets: 19000, InPackets: 1000, Wallets: 2, Packets: 3, OpenPackets: 1, Claims: 8, Transfers: 13, Rooms: 1, Entries: 43,
		Differences: []wire.Difference{}, Notes: []wire.Difference{}, At: 1767225600000, WholeAt: 1767139200000, Heads: []string{exampleHead},
	}},
	"proof":        {nil, exampleProof()},
	"receipt_keys": {nil, wire.ReceiptKeysReply{Keys: []string{"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"}}},
	"start_audit":  {wire.StartAuditRequest{Whole: true}, wire.StartAuditReply{At: 1767225600000}},
	"heads":        {nil, wire.HeadsReply{Heads: []string{exampleHead}}},
	"stats": {nil, wire.StatsReply{
		Instance: "i-1", Version: "1.0.0", StartedAt: 1767225600000, Connections: 2, Users: 2, Topics: 1, Delivered: 86, Closes: map[int]int64{3001: 1},
		Grabs: wire.GrabStats{Won: 8, Empty: 3},
	}},
	"preview_link": {wire.PreviewLinkRequest{Code: exampleLink, Packet: "p-1"}, wire.PreviewLinkReply{
		Room: wire.PreviewRoom{Name: "大厅", Kind: "public", Members: 2}, By: wire.Face{Name: "Ann", Avatar: "https://example.com/ann.png"},
		People: []wire.Face{{Name: "Ann", Avatar: "https://example.com/ann.png"}, {Name: "Bob"}},
		Packet: &wire.PreviewPacket{From: wire.Face{Name: "Ann", Avatar: "https://example.com/ann.png"}, Greeting: "恭喜发财，大吉大利"},
	}},
	"preview_room": {wire.PreviewRoomRequest{Room: "r-1"}, wire.PreviewRoomReply{Room: wire.PreviewRoom{Name: "大厅", Kind: "public", Members: 2}}},

	"guests":      {wire.GuestRequest{Name: "Mei"}, exampleGuest},
	"renew":       {nil, exampleGuest},
	"sign_out":    {nil, wire.DisconnectReply{}},
	"picture":     {wire.PictureRequest{Picture: new("")}, wire.PictureReply{User: wire.User{ID: "ann", Name: "Ann"}}},
	"profile":     {wire.ProfileRequest{Name: new("Mei Lin"), Avatar: new("avatars/3.svg")}, wire.ProfileReply{User: wire.User{ID: "guest:mei", Name: "Mei Lin", Avatar: "avatars/3.svg", Guest: true}}},
	"device_code": {nil, wire.DeviceCodeReply{Code: "mei.Zp3kQ0aB9cD2eF4gH6iJ", ExpiresAt: 1767226200000}},
	"redeem":      {wire.RedeemRequest{Code: "mei.Zp3kQ0aB9cD2eF4gH6iJ"}, exampleGuest},
}

const (
	exampleHead = "7/e-43/b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d"
	exampleLink = "r-1.Zp3kQ0aB9cD2eF4gH6iJ"
)

// exampleProof returns the proof of a draw of two shares with three participants.
func exampleProof() proof.Document {
	seed := proof.Seed{31: 1}
	d := proof.Document{
		Packet: "p-3", Seed: hex.EncodeToString(seed[:]), Commitment: proof.Commitment(seed), Sender: "u-ann", Key: "k-3", Mode: proof.Lucky, Spread: proof.Classic,
		Total: 1000, Count: 2, Rest: proof.RestRefund,
	}
	users, leaves := map[proof.Hash]string{}, []proof.Hash{}
	for _, user := range []string{"u-ann", "u-bob", "u-cy"} {
		leaf := proof.Leaf(d.Sender, d.Key, 0, user)
		users[leaf], leaves = user, append(leaves, leaf)
	}
	slices.SortFunc(leaves, func(a, b proof.Hash) int { return bytes.Compare(a[:], b[:]) })
	root := proof.Root(leaves)
	w := proof.Wave{Root: hex.EncodeToString(root[:]), Entries: len(leaves)}
	for _, leaf := range leaves {
		w.Leaves = append(w.Leaves, hex.EncodeToString(leaf[:]))
	}
	d.Shares, _ = proof.Shares(seed, proof.Terms{Sender: d.Sender, Key: d.Key, Mode: d.Mode, Spread: d.Spread, Total: d.Total, Count: d.Count})
	for rank, i := range proof.Winners(proof.Order(seed, d.Sender, d.Key, 0, leaves), d.Count) {
		w.Winners = append(w.Winners, proof.Winner{
			Participant: proof.Participant{User: users[leaves[i]], Leaf: w.Leaves[i]}, Amount: d.Shares[rank], Rank: rank + 1,
		})
	}
	d.Waves = []proof.Wave{w}
	return d
}

var exampleGuest = wire.GuestReply{Token: "<token>", User: wire.User{ID: "guest:mei", Name: "Mei", Guest: true}}
