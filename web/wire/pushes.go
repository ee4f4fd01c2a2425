package wire

// Message is the data of a push without a seq. Exactly one field is set: its name is the push's name.
type Message struct {
	Members        *MembersPush  `json:"members,omitempty"`
	PacketProgress *ProgressPush `json:"packet_progress,omitempty"`
	Wallet         *WalletPush   `json:"wallet,omitempty"`
	Read           *ReadPush     `json:"read,omitempty"`
	Left           *LeftPush     `json:"left,omitempty"`
	Typing         *TypingPush   `json:"typing,omitempty"`
	Presence       *PresencePush `json:"presence,omitempty"`
	GrabResult     *GrabReply    `json:"grab_result,omitempty"`
}

// TypingPush says that a member of a room is typing.
type TypingPush struct {
	Room string `json:"room"`
	User string `json:"user"`
}

// PresencePush says that a member of a small room has come online or gone offline.
type PresencePush struct {
	Room   string `json:"room"`
	User   string `json:"user"`
	Online bool   `json:"online"`
}

// MembersPush says how many members a room has.
type MembersPush struct {
	Room  string `json:"room"`
	Count int    `json:"count"`
}

// ProgressPush says how many shares of a packet are claimed.
type ProgressPush struct {
	Packet  string   `json:"packet"`
	Room    string   `json:"room"`
	Claimed int      `json:"claimed"`
	Count   int      `json:"count"`
	Latest  []string `json:"latest"` // user ids, newest last
}

// WalletPush says how the user's balance has changed.
type WalletPush struct {
	Balance        int64  `json:"balance"`
	AccountVersion int64  `json:"account_version"`
	Change         int64  `json:"change"` // signed
	Kind           string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet         string `json:"packet,omitempty"`
	NextCommitment string `json:"next_commitment"`
}

// ReadPush says how far a user has read.
type ReadPush struct {
	Room string `json:"room"`
	User string `json:"user"`
	Seq  int64  `json:"seq"`
}

// LeftPush says that the user is out of a room. The unsubscribe push of its channel follows.
type LeftPush struct {
	Room   string `json:"room"`
	Reason string `json:"reason" enum:"left,kicked,banned,deleted"`
}

// Joined is the data of the subscribe push: the user is in this room now.
type Joined struct {
	Room Room `json:"room"`
}

// UnsubscribeCode is the code of every unsubscribe push. It means that the client must not subscribe again by itself.
const UnsubscribeCode = 2000
