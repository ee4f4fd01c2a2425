package wire

// WalletRequest is the request of wallet.
type WalletRequest struct {
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// WalletReply is the reply of wallet.
type WalletReply struct {
	Balance        int64      `json:"balance"`
	AccountVersion int64      `json:"account_version"`
	NextCommitment string     `json:"next_commitment"`
	Transfers      []Transfer `json:"transfers"`
	Next           string     `json:"next,omitempty"`
}

// AdjustRequest is the body of the admin's credit and debit.
type AdjustRequest struct {
	User   string `json:"user"`
	Amount int64  `json:"amount" min:"1"`
	Key    string `json:"key"`
	Note   string `json:"note,omitempty"` // the user sees it

	RequestID string `json:"request_id,omitempty"` // names the order in the host's own system
	Reason    string `json:"reason,omitempty"`     // for auditors
}

// AdjustReply is the reply to AdjustRequest.
type AdjustReply struct {
	Balance        int64 `json:"balance"`
	AccountVersion int64 `json:"account_version"`
	Dup            bool  `json:"dup"`
}

// AuditReply is the result of checking the books. When they are right, Differences is empty and Funded = InWallets +
// InPackets.
type AuditReply struct {
	OK          bool         `json:"ok"`
	Funded      int64        `json:"funded"`
	InWallets   int64        `json:"in_wallets"`
	InPackets   int64        `json:"in_packets"`
	Wallets     int          `json:"wallets"`
	Packets     int          `json:"packets"`
	OpenPackets int          `json:"open_packets"`
	Claims      int          `json:"claims"`
	Transfers   int          `json:"transfers"`
	Rooms       int          `json:"rooms"`
	Entries     int64        `json:"entries"`
	Quarantined int          `json:"quarantined"`
	Differences []Difference `json:"differences"`
}

// Difference is one error in the books.
type Difference struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	What string `json:"what"`
}

// HeadsReply holds the heads of the hash chains. Each is the text chain/link/hash: the number of the chain, the id of its
// newest link, and the hash of that link in hex.
type HeadsReply struct {
	Heads []string `json:"heads"`
}

// GuestRequest is the body of POST /v1/guests.
type GuestRequest struct {
	Name string `json:"name"`
}

// GuestReply is the reply to GuestRequest.
type GuestReply struct {
	Token string `json:"token"`
	User  User   `json:"user"`
}

// DisconnectRequest is the body of the admin's disconnect.
type DisconnectRequest struct {
	User string `json:"user"`
}

// DisconnectReply is the reply to DisconnectRequest.
type DisconnectReply struct{}

// StatsReply is what the instance has done since it started.
type StatsReply struct {
	Instance    string        `json:"instance"`
	Version     string        `json:"version"`
	StartedAt   int64         `json:"started_at"`
	Draining    bool          `json:"draining"`
	Connections int           `json:"connections"`
	Users       int           `json:"users"`
	Topics      int           `json:"topics"`
	QueuedBytes int64         `json:"queued_bytes"`
	Delivered   int64         `json:"delivered"` // pushes
	Shed        int64         `json:"shed"`      // pushes that were dropped for slow connections
	GapRepairs  int64         `json:"gap_repairs"`
	BusDown     bool          `json:"bus_down"`
	Closes      map[int]int64 `json:"closes"` // by code
	Grabs       GrabStats     `json:"grabs"`
}

// GrabStats counts grabs by outcome.
type GrabStats struct {
	Won     int64 `json:"won"`
	Already int64 `json:"already"`
	Empty   int64 `json:"empty"`
	Expired int64 `json:"expired"`
	Pending int64 `json:"pending"`
	Failed  int64 `json:"failed"`
}
