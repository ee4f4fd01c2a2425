package hostapi

import "hongbao/web/wire"

var moneyOperations = []Operation{
	{
		Method: wire.Method{
			Name: "credit", Does: "Credits a user's wallet. A repeated request with the same Idempotency-Key changes nothing.",
			Request: AdjustRequest{}, Reply: wire.AdjustReply{}, Errors: []wire.Code{wire.CodeTooLong, wire.CodeLimitExceeded, wire.CodeKeyReused},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/credit", Scope: Money, Keyed: true,
		Example: AdjustRequest{User: "ann", Amount: 10_000, Note: "welcome"},
	},
	{
		Method: wire.Method{
			Name: "debit", Does: "Debits a user's wallet. A repeated request with the same Idempotency-Key changes nothing.",
			Request: AdjustRequest{}, Reply: wire.AdjustReply{}, Errors: []wire.Code{wire.CodeTooLong, wire.CodeKeyReused, wire.CodeInsufficientBalance, wire.CodeWalletFrozen},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/debit", Scope: Money, Keyed: true,
		Example: AdjustRequest{User: "ann", Amount: 2_500, Note: "order 17"},
	},
}

// AdjustRequest is the request of credit and debit.
type AdjustRequest struct {
	User   string `json:"user"`
	Amount int64  `json:"amount" min:"1"` // in minor units
	Note   string `json:"note,omitempty"` // the user sees it
}
