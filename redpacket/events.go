package redpacket

// Progress says how many shares of a packet are claimed. It is published to the packet's room at most five times a
// second, and never after the packet's end.
type Progress struct {
	Packet  string
	Room    string
	Claimed int
	Count   int
	Latest  []string // users whose claims are new in this Progress, newest last
}

// WalletChanged tells a user how the user's balance has changed.
type WalletChanged struct {
	Account Account
	Change  Money
	Kind    TransferKind
	Packet  string
}

// GrabDecided carries the final result of a grab that was first answered "pending".
type GrabDecided struct{ Result Result }

// EventName implements chat.Event.
func (GrabDecided) EventName() string { return "grab_result" }

// EventName implements chat.Event.
func (Progress) EventName() string { return "packet_progress" }

// EventName implements chat.Event.
func (WalletChanged) EventName() string { return "wallet" }
