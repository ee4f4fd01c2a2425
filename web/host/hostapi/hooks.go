package hostapi

import (
	"encoding/json"

	"hongbao/web/wire"
)

// HookQuestion is the body of the request by which the host is asked about a command before it is carried out.
type HookQuestion struct {
	ID        string   `json:"id"`        // of the question; with may_fund, of the funding: the same if the same packet is asked about again
	Type      string   `json:"type"`      // the command
	Timestamp string   `json:"timestamp"` // in RFC 3339
	Data      HookData `json:"data"`
}

// HookData is what the host is asked about.
type HookData struct {
	User    wire.User       `json:"user"`               // the sender of the command
	Room    string          `json:"room,omitempty"`     // where; missing for create_room
	Request json.RawMessage `json:"request"`            // the command's data, without a passphrase
	MayFund bool            `json:"may_fund,omitempty"` // of send_packet: the answer may have fund
}

// HookAnswer is the host's answer.
type HookAnswer struct {
	Allow   *bool           `json:"allow"`
	Reason  string          `json:"reason,omitempty"`  // of a denial, for the user; at most 200 characters
	Data    json.RawMessage `json:"data,omitempty"`    // of a denial, for the client; at most 2048 bytes
	Text    *string         `json:"text,omitempty"`    // takes the place of the text of send and edit, or of the greeting of send_packet
	Fund    *HookFund       `json:"fund,omitempty"`    // of send_packet: what the host has taken from its own ledger
	Preview *wire.Preview   `json:"preview,omitempty"` // of a link in the text of send and edit
	Hold    bool            `json:"hold,omitempty"`    // of file: the file cannot be sent before release_file
}

// HookFund is money that the host has taken from its own ledger for a packet.
type HookFund struct {
	Amount int64  `json:"amount"` // 1 to the packet's total
	Key    string `json:"key"`    // the host's own name for it: 1 to 64 characters from ! to ~
}

// HookExample is a question, for the documents.
var HookExample = HookQuestion{
	ID: "01997d3c-8a3e-7f00-8000-0123456789ab", Type: "send_packet", Timestamp: "2026-11-25T01:02:03.456Z",
	Data: HookData{
		User: wire.User{ID: "ann", Name: "Ann"}, Room: "r1", MayFund: true,
		Request: json.RawMessage(`{"room":"r1","key":"k1","total":1000,"count":5}`),
	},
}

// HookAnswerExample is an answer to HookExample, for the documents.
var HookAnswerExample = HookAnswer{Allow: new(true), Fund: &HookFund{Amount: 1000, Key: "debit-77"}}
