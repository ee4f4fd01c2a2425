package wire

// Message is the data of a push without a place in a sequence. Exactly one field is set: its name is the
// push's name.
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

// TypingPush tells a room that somebody is typing.
type TypingPush struct {
	Room string `json:"room"`
	User string `json:"user"`
}

// PresencePush tells a small room that one of its members has come online or gone.
type PresencePush struct {
	Room   string `json:"room"`
	User   string `json:"user"`
	Online bool   `json:"online"`
}

// MembersPush tells a room how many it is.
type MembersPush struct {
	Room  string `json:"room"`
	Count int    `json:"count"`
}

// ProgressPush tells a room how far a packet is.
type ProgressPush struct {
	Packet  string   `json:"packet"`
	Room    string   `json:"room"`
	Claimed int      `json:"claimed"`
	Count   int      `json:"count"`
	Latest  []string `json:"latest"` // user ids, newest last
}

// WalletPush tells a user what happened to his money.
type WalletPush struct {
	Balance        int64  `json:"balance"`
	Change         int64  `json:"change"` // signed
	Kind           string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet         string `json:"packet,omitempty"`
	NextCommitment string `json:"next_commitment"`
}

// ReadPush tells how far a user has read.
type ReadPush struct {
	Room string `json:"room"`
	User string `json:"user"`
	Seq  int64  `json:"seq"`
}

// LeftPush tells a user's sockets that he is out of a room; the unsubscribe push of its channel follows.
type LeftPush struct {
	Room   string `json:"room"`
	Reason string `json:"reason" enum:"left,kicked,banned,deleted"`
}

// Joined is the data of the subscribe push: the user is in this room now.
type Joined struct {
	Room Room `json:"room"`
}

// UnsubscribeCode is the code of every unsubscribe push: the client is not to come back by itself.
const UnsubscribeCode = 2000
