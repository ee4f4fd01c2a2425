package wire

// User is a user as others see them.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
}

// Room is a room as every user sees it. Role is that of the requesting user, if known.
type Room struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Kind         string `json:"kind" enum:"public,private,direct"`
	Announcement string `json:"announcement,omitempty"`
	Members      int    `json:"members"`
	LastSeq      int64  `json:"last_seq"`
	CreatedAt    int64  `json:"created_at"`
	Role         string `json:"role,omitempty" enum:"owner,admin,member"`
}

// Packet is the part of a packet that never changes.
type Packet struct {
	ID         string   `json:"id"`
	Room       string   `json:"room"`
	From       User     `json:"from"`
	Mode       string   `json:"mode" enum:"lucky,equal"`
	Spread     string   `json:"spread" enum:"calm,classic,wild,"` // "" for equal
	Total      int64    `json:"total"`
	Count      int      `json:"count"`
	Greeting   string   `json:"greeting"`
	To         []string `json:"to,omitempty"`
	Locked     bool     `json:"locked"` // a passphrase is required
	CreatedAt  int64    `json:"created_at"`
	ExpiresAt  int64    `json:"expires_at"`
	Commitment string   `json:"commitment"`
	Key        string   `json:"key"`
}

// State is the state of a packet as one user may see it. Refunded is left out when it is 0.
type State struct {
	Packet   string    `json:"packet"`
	Status   string    `json:"status" enum:"open,drained,expired,cancelled"`
	Claimed  int       `json:"claimed"`
	Mine     *Mine     `json:"mine,omitempty"`
	Luckiest *Luckiest `json:"luckiest,omitempty"`
	Refunded int64     `json:"refunded,omitempty"`
}

// Mine is the user's own share of a packet.
type Mine struct {
	Amount int64 `json:"amount"`
	Rank   int   `json:"rank"`
	At     int64 `json:"at"`
}

// Luckiest is the largest share of a finished lucky packet.
type Luckiest struct {
	User   string `json:"user"` // id
	Amount int64  `json:"amount"`
	Rank   int    `json:"rank"`
}

// Claim is a share that a user has. The amount is left out if the requesting user may not see it.
type Claim struct {
	User   User  `json:"user"`
	Rank   int   `json:"rank"`
	At     int64 `json:"at"`
	Amount int64 `json:"amount,omitempty"`
}

// Proof shows that the shares follow from a seed to which the server had committed before.
type Proof struct {
	Seed       string  `json:"seed"`
	Commitment string  `json:"commitment"`
	Shares     []int64 `json:"shares"`
}

// Transfer is one transfer to or from the user's account.
type Transfer struct {
	ID     string `json:"id"`
	At     int64  `json:"at"`
	Amount int64  `json:"amount"` // signed
	Kind   string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet string `json:"packet,omitempty"`
	Note   string `json:"note,omitempty"`
}
