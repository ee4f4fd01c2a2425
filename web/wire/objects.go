package wire

// User is a person as others see him.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
}

// Room is a room as everyone sees it; Role is the asker's, where he is known.
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

// Packet is what never changes about a packet.
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
	Locked     bool     `json:"locked"` // a passphrase is asked
	CreatedAt  int64    `json:"created_at"`
	ExpiresAt  int64    `json:"expires_at"`
	Commitment string   `json:"commitment"`
	Key        string   `json:"key"`
}

// State is how a packet stands, as one user may see it. Refunded is left out when it is 0.
type State struct {
	Packet   string    `json:"packet"`
	Status   string    `json:"status" enum:"open,drained,expired,cancelled"`
	Claimed  int       `json:"claimed"`
	Mine     *Mine     `json:"mine,omitempty"`
	Luckiest *Luckiest `json:"luckiest,omitempty"`
	Refunded int64     `json:"refunded,omitempty"`
}

// Mine is one's own share of a packet.
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

// Claim is a share that somebody has; the amount is left out where the asker may not see it.
type Claim struct {
	User   User  `json:"user"`
	Rank   int   `json:"rank"`
	At     int64 `json:"at"`
	Amount int64 `json:"amount,omitempty"`
}

// Proof shows that the shares follow from a seed which was committed to before.
type Proof struct {
	Seed       string  `json:"seed"`
	Commitment string  `json:"commitment"`
	Shares     []int64 `json:"shares"`
}

// Transfer is one movement of the asker's money.
type Transfer struct {
	ID     string `json:"id"`
	At     int64  `json:"at"`
	Amount int64  `json:"amount"` // signed
	Kind   string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet string `json:"packet,omitempty"`
	Note   string `json:"note,omitempty"`
}
