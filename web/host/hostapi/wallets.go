package hostapi

import "hongbao/web/wire"

var walletOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_wallet", Does: "Returns a user's wallet, its limits per day, and what counts today.", Request: GetWalletRequest{}, Reply: GetWalletReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}/wallet", Scope: Read, Example: GetWalletRequest{User: "ann"},
	},
	{
		Method: wire.Method{
			Name: "list_wallets", Does: "Lists wallets by user. Users that never had money may be missing.", Request: ListWalletsRequest{}, Reply: WalletsReply{},
		},
		Verb: "GET", Path: "/v1/server/wallets", Scope: Read, Example: ListWalletsRequest{After: "ann", Limit: 2},
	},
	{
		Method: wire.Method{
			Name: "get_wallets", Does: "Returns the wallets of up to 1,000 users, in the order of the request. Unknown users are left out.",
			Request: GetWalletsRequest{}, Reply: WalletsReply{}, Errors: []wire.Code{wire.CodeLimitExceeded},
		},
		Verb: "POST", Path: "/v1/server/wallets/query", Scope: Read, Example: GetWalletsRequest{Users: []string{"bob", "ann"}},
	},
	{
		Method: wire.Method{
			Name: "freeze_wallet", Does: "Freezes a wallet: it receives, and never spends. Repeated, it changes nothing.", Request: FreezeWalletRequest{}, Reply: WalletReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/wallet/freeze", Scope: Money, Example: FreezeWalletRequest{User: "ann"},
	},
	{
		Method: wire.Method{
			Name: "unfreeze_wallet", Does: "Lets a frozen wallet spend again.", Request: FreezeWalletRequest{}, Reply: WalletReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/wallet/unfreeze", Scope: Money, Example: FreezeWalletRequest{User: "ann"},
	},
	{
		Method: wire.Method{
			Name: "set_limits", Does: "Replaces a user's own limits per day. Those that the request leaves out are as the service's settings say; -1 is no limit.",
			Request: SetLimitsRequest{}, Reply: WalletReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "PUT", Path: "/v1/server/users/{user}/limits", Scope: Money, Example: SetLimitsRequest{User: "ann", Sent: new(int64(50_000)), Packets: new(int64(20))},
	},
}

// Wallet is a wallet as the host sees it.
type Wallet struct {
	User           string  `json:"user"`
	Balance        int64   `json:"balance"`
	AccountVersion int64   `json:"account_version"`
	FrozenAt       int64   `json:"frozen_at,omitempty"` // missing: it is not frozen
	Limits         *Limits `json:"limits,omitempty"`    // the user's own ones; missing: all are as the service's settings say
}

// Limits are limits per user and day. -1 is no limit. In Wallet.Limits, a missing one is as the service's settings say.
type Limits struct {
	Sent     *int64 `json:"sent,omitempty"`     // sum of the packets that the user sends
	Received *int64 `json:"received,omitempty"` // sum of the shares that the user gets
	Packets  *int64 `json:"packets,omitempty"`  // number of packets that the user sends
}

// GetWalletRequest is the request of get_wallet.
type GetWalletRequest struct {
	User string `json:"user"`
}

// GetWalletReply is the reply of get_wallet.
type GetWalletReply struct {
	Wallet Wallet `json:"wallet"`
	Today  DayUse `json:"today"`
}

// DayUse is what counts against the limits of a day.
type DayUse struct {
	From     int64  `json:"from"` // when the day began
	To       int64  `json:"to"`   // when the next day begins
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
	Packets  int64  `json:"packets"`
	Limits   Limits `json:"limits"` // those that apply to the user: a missing one does not limit
}

// ListWalletsRequest is the request of list_wallets.
type ListWalletsRequest struct {
	After string `json:"after,omitempty"`         // the list begins with the user that follows this one
	Limit int    `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// WalletsReply is the reply of list_wallets and get_wallets.
type WalletsReply struct {
	Wallets []Wallet `json:"wallets"`
	Next    string   `json:"next,omitempty"` // the after of the next page; missing: this is the last one
}

// GetWalletsRequest is the request of get_wallets.
type GetWalletsRequest struct {
	Users []string `json:"users"`
}

// FreezeWalletRequest is the request of freeze_wallet and unfreeze_wallet.
type FreezeWalletRequest struct {
	User string `json:"user"`
}

// WalletReply is a reply that holds one wallet.
type WalletReply struct {
	Wallet Wallet `json:"wallet"`
}

// SetLimitsRequest is the request of set_limits.
type SetLimitsRequest struct {
	User     string `json:"user"`
	Sent     *int64 `json:"sent,omitempty" min:"-1"`
	Received *int64 `json:"received,omitempty" min:"-1"`
	Packets  *int64 `json:"packets,omitempty" min:"-1"`
}
