package hostapi

import "hongbao/web/wire"

var transferOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_transfers", Does: "Returns transfers of all users after a cursor. Nothing ever appears behind a cursor. An empty page may have more behind it. With a user it returns the transfers of that user, newest first.",
			Request: GetTransfersRequest{}, Reply: TransfersReply{}, Errors: []wire.Code{wire.CodeConflict},
		},
		Verb: "GET", Path: "/v1/server/transfers", Scope: Read, Example: GetTransfersRequest{Limit: 5},
	},
}

// GetTransfersRequest is the request of get_transfers.
type GetTransfersRequest struct {
	User  string `json:"user,omitempty"`          // only this user's transfers, newest first; its pages have cursors of their own
	After string `json:"after,omitempty"`         // the next of the page before; "": from the first transfer on
	Limit int    `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// TransfersReply is the reply of get_transfers.
type TransfersReply struct {
	Transfers []LedgerTransfer `json:"transfers"`
	Next      string           `json:"next"` // the cursor after this page; "" at the end of the list of a user
	More      bool             `json:"more"` // there may be more transfers now
}

// LedgerTransfer is a change of a wallet.
type LedgerTransfer struct {
	ID     string `json:"id"`
	At     int64  `json:"at"`
	User   string `json:"user"`
	Kind   string `json:"kind"`   // credit, debit, send, claim, refund
	Amount int64  `json:"amount"` // negative: the user has paid it
	Packet string `json:"packet,omitempty"`
	Share  *int   `json:"share,omitempty"` // of a claim; 0 is the first; missing in the list of a user
	Note   string `json:"note,omitempty"`

	// The following fields are of a credit or debit. Actor is "key/" with the name of an API key, the id of an administrator,
	// "hook" if the host has funded a packet, "guests" for the credit of a new guest, "lobby" for welcome packets, or what an
	// operator has named on the command line.
	Actor     string `json:"actor,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
}
