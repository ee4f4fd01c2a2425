package redpacket

// Progress tells a room how far a packet is, at most five times a second and never after its end.
type Progress struct {
	Packet  string
	Room    string
	Claimed int
	Count   int
	Latest  []string // users, newest last
}

// WalletChanged tells a user what happened to his money.
type WalletChanged struct {
	Account Account
	Change  Money
	Kind    TransferKind
	Packet  string
}

// GrabDecided tells a user how a grab has ended of which he was told that it is pending.
type GrabDecided struct{ Result Result }

// EventName implements chat.Event.
func (GrabDecided) EventName() string { return "grab_result" }

// EventName implements chat.Event.
func (Progress) EventName() string { return "packet_progress" }

// EventName implements chat.Event.
func (WalletChanged) EventName() string { return "wallet" }
