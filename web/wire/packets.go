package wire

// SendPacketRequest is the request of send_packet.
type SendPacketRequest struct {
	Room       string   `json:"room"`
	Key        string   `json:"key"`
	Mode       string   `json:"mode,omitempty" enum:"lucky,equal" doc:"'lucky' (default) or 'equal'"`
	Total      int64    `json:"total" doc:"minor units; less than 'count' is 'bad_request'"`
	Count      *int     `json:"count,omitempty" doc:"number of shares; may be left out with 'to'"`
	Spread     string   `json:"spread,omitempty" enum:"calm,classic,wild" doc:"'classic' (default), 'calm' or 'wild'; '\"\"' for 'equal'"`
	Greeting   string   `json:"greeting,omitempty" doc:"default '恭喜发财，大吉大利'"`
	To         []string `json:"to,omitempty" doc:"only these users may grab; see below"`
	Passphrase string   `json:"passphrase,omitempty" doc:"must be given to grab; see below"`
	TTLS       *int64   `json:"ttl_s,omitempty" doc:"seconds until the deadline: 5 to 604800, default 86400"`
	Commitment string   `json:"commitment,omitempty" doc:"the 'next_commitment' that the client holds; another than the current one is 'conflict'"`

	EarlierMembers bool   `json:"earlier_members,omitempty" doc:"true: only users may grab that are members already; see below"`
	OnePerPerson   bool   `json:"one_per_person,omitempty" doc:"true: at most one share for each person, see [one a person](#one-a-person)"`
	Skin           string `json:"skin,omitempty" doc:"the drawing on the envelope: 'cloud', 'koi', 'plum', 'lantern', 'moon', or one that the host brings; default: the plain one"`

	OpensAt *int64 `json:"opens_at,omitempty" doc:"Unix milliseconds: grabs before it are 'not_yet'; see below"`

	HoldFor  []string `json:"hold_for,omitempty" doc:"a share is held for each of these users; see below"`
	HoldAway bool     `json:"hold_away,omitempty" doc:"true: shares are held for members that are away; see below"`
	HoldS    *int64   `json:"hold_s,omitempty" doc:"seconds for which they are held"`

	WindowS *int64 `json:"window_s,omitempty" doc:"seconds that users can enter, 3 to 600: the packet is a [draw](draws.md)"`
	Rest    string `json:"rest,omitempty" enum:"refund,share" doc:"of a draw with fewer participants than shares: 'refund' (default) the rest, or 'share' the total among them"`

	Waves   *int   `json:"waves,omitempty" doc:"3 to 100: the packet is a [rain](rain.md), whose 'count' shares come up in so many waves; 'count' must be a multiple"`
	OverS   *int64 `json:"over_s,omitempty" doc:"of a rain: the waves come within so many seconds, 10 to 600 and at least 3 for each wave"`
	MaxWins *int   `json:"max_wins,omitempty" doc:"of a rain: waves that one user may win, default all"`
}

// SendPacketReply is the reply of send_packet.
type SendPacketReply struct {
	Packet         Packet `json:"packet"`
	Seq            int64  `json:"seq"`
	At             int64  `json:"at"`
	Balance        int64  `json:"balance"`
	AccountVersion int64  `json:"account_version"`
	NextCommitment string `json:"next_commitment"`
	Dup            bool   `json:"dup"`
}

// GrabRequest is the request of grab.
type GrabRequest struct {
	Packet     string `json:"packet"`
	Passphrase string `json:"passphrase,omitempty" doc:"of a locked packet; one that is too long is simply wrong"`
}

// GrabReply is the reply of grab. User is set for elsewhere. Amount, Rank and At are set for won and already. Waiting is set for empty while shares are held for other users. Receipt is set for entered, and Participants for an open
// draw, or for the Wave of a rain that is open. Balance and AccountVersion are set for won, unless another call has made the payment.
type GrabReply struct {
	Packet         string `json:"packet"`
	Outcome        string `json:"outcome" enum:"won,already,empty,expired,entered,missed,elsewhere"`
	Amount         int64  `json:"amount,omitempty"`
	Rank           int    `json:"rank,omitempty"`
	At             int64  `json:"at,omitempty"`
	Balance        *int64 `json:"balance,omitempty"`
	AccountVersion int64  `json:"account_version,omitempty"`
	Claimed        int    `json:"claimed"`
	Count          int    `json:"count"`
	Waiting        int    `json:"waiting,omitempty"`

	Participants int      `json:"participants,omitempty"`
	Wave         int      `json:"wave,omitempty"`
	Receipt      *Receipt `json:"receipt,omitempty"`

	User string `json:"user,omitempty"`
}

// ReceiptKeysReply is the reply to GET /v1/receipt-keys: all public keys that have signed receipts of draws, in hex, the present one last.
type ReceiptKeysReply struct {
	Keys []string `json:"keys"`
}

// PacketRequest is the request of packet.
type PacketRequest struct {
	Packet    string `json:"packet"`
	AfterRank int    `json:"after_rank,omitempty" min:"0"`
	Limit     int    `json:"limit,omitempty" min:"1"`
}

// PacketReply is the reply of packet. Proof is set when the packet has ended.
type PacketReply struct {
	Packet Packet  `json:"packet"`
	State  State   `json:"state"`
	Claims []Claim `json:"claims"`
	More   bool    `json:"more"`
	Proof  *Proof  `json:"proof,omitempty"`
}

// CancelPacketRequest is the request of cancel_packet.
type CancelPacketRequest struct {
	Packet string `json:"packet" doc:"the packet; its sender may cancel as a member or as a former member"`
}

// CancelPacketReply is the reply of cancel_packet.
type CancelPacketReply struct {
	State          State `json:"state"`
	Balance        int64 `json:"balance"`
	AccountVersion int64 `json:"account_version"`
}

// PacketsRequest is the request of packets. It selects packets that the user sent or received at From or later, and before To, or those that
// wait for the user.
type PacketsRequest struct {
	Direction string `json:"direction" enum:"sent,received,waiting" doc:"'sent', 'received', or 'waiting': open packets of others in the caller's rooms that the caller may still grab"`
	From      *int64 `json:"from,omitempty" min:"0" doc:"the period in Unix milliseconds: from <= time < to; not of 'waiting'"`
	To        *int64 `json:"to,omitempty" min:"0" doc:"the period in Unix milliseconds: from <= time < to; not of 'waiting'"`
	Next      string `json:"next,omitempty"`
	Limit     int    `json:"limit,omitempty" min:"1"`

	UTCOffsetMin *int64 `json:"utc_offset_min,omitempty" min:"-840" doc:"minutes by which the caller's clock is ahead of UTC, -840 to 840; of 'received': 'totals' have the 'best_day'"`
}

// PacketsReply is the reply of packets; Totals are over the whole period, and zero for packets that wait.
type PacketsReply struct {
	Packets []PacketState `json:"packets"`
	Totals  Totals        `json:"totals"`
	Next    string        `json:"next,omitempty"`
}

// RoomPacketsRequest is the request of room_packets.
type RoomPacketsRequest struct {
	Room  string `json:"room"`
	Part  string `json:"part,omitempty" enum:"open,mine,ended" doc:"'open', 'mine': those that the caller has sent, entered or got a share of, or 'ended'; default: all"`
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// RoomPacketsReply is the reply of room_packets.
type RoomPacketsReply struct {
	Packets []PacketState `json:"packets"`
	Next    string        `json:"next,omitempty"`
}

// PacketState is a packet with its state and the seq of its entry.
type PacketState struct {
	Packet Packet `json:"packet"`
	State  State  `json:"state"`
	Seq    int64  `json:"seq"`
}

// Totals of a period: the number of packets, the amount, how often the user was the luckiest, and the best day, if it was asked for.
type Totals struct {
	Count    int      `json:"count"`
	Amount   int64    `json:"amount"`
	Luckiest int      `json:"luckiest"`
	BestDay  *BestDay `json:"best_day,omitempty"`
}

// BestDay is the day on which the user has received most: when it begins, and how much.
type BestDay struct {
	At     int64 `json:"at"`
	Amount int64 `json:"amount"`
}

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
	Limits         DayLimits  `json:"limits"`
	Transfers      []Transfer `json:"transfers"`
	Next           string     `json:"next,omitempty"`
}

// DayLimits are what the user sends and receives in packets a day, and may.
type DayLimits struct {
	Sent     DayLimit `json:"sent"`
	Received DayLimit `json:"received"`
}

// DayLimit is one sum of a day with its limits.
type DayLimit struct {
	Today  int64  `json:"today"`             // the sum so far
	Limit  *int64 `json:"limit,omitempty"`   // the smallest that applies now, also of the host; missing: none
	Own    *int64 `json:"own,omitempty"`     // what the user has set; missing: nothing
	Next   *int64 `json:"next,omitempty"`    // takes the place of own at next_at; -1: none
	NextAt int64  `json:"next_at,omitempty"` // missing: nothing is pending
}

// SetOwnLimitsRequest is the request of set_own_limits.
type SetOwnLimitsRequest struct {
	Sent     *int64 `json:"sent,omitempty" min:"-1" doc:"most that the user sends a day; 0: none, -1: no own limit; missing: as it is"`
	Received *int64 `json:"received,omitempty" min:"-1" doc:"the same of what the user receives; one of the two must be given"`
}

// SetOwnLimitsReply is the reply of set_own_limits.
type SetOwnLimitsReply struct {
	Limits DayLimits `json:"limits"`
}

// AdjustRequest is the body of the admin's credit and debit.
type AdjustRequest struct {
	User   string `json:"user"`
	Amount int64  `json:"amount" min:"1"`
	Key    string `json:"key"`
	Note   string `json:"note,omitempty"` // the user sees it

	RequestID string `json:"request_id,omitempty"` // the id of this credit or debit in the host's own system
	Reason    string `json:"reason,omitempty"`     // for auditors
}

// AdjustReply is the reply to AdjustRequest.
type AdjustReply struct {
	Balance        int64 `json:"balance"`
	AccountVersion int64 `json:"account_version"`
	Dup            bool  `json:"dup"`
}

// AuditReply is the report of the last audit in the background. When the books are right, Differences is empty and Funded = InWallets +
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

	Notes   []Difference `json:"notes"`              // claims in quarantine
	At      int64        `json:"at"`                 // when the audit began
	WholeAt int64        `json:"whole_at,omitempty"` // when the last audit began that looked at all rows and found no difference
	Heads   []string     `json:"heads"`              // the newest link of each hash chain that was verified
}

// StartAuditRequest is the body of POST /v1/admin/audit.
type StartAuditRequest struct {
	Whole bool `json:"whole,omitempty"` // look at all rows, not only at those that are newer than the last checkpoint
}

// StartAuditReply is the reply to StartAuditRequest. A report with this At, or a later one, covers all that was committed before
// this At.
type StartAuditReply struct {
	At int64 `json:"at"`
}

// Difference is one error in the books. Among AuditReply.Notes it is a claim in quarantine, and no error.
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

// GuestReply is the reply to GuestRequest, to RedeemRequest, and to a request for a newer token of a guest.
type GuestReply struct {
	Token string `json:"token"`
	User  User   `json:"user"`
}

// ProfileRequest is the body of POST /v1/guests/profile. A missing field is unchanged; an empty avatar removes the old one.
type ProfileRequest struct {
	Name   *string `json:"name,omitempty"`
	Avatar *string `json:"avatar,omitempty"`
}

// ProfileReply is the reply to ProfileRequest: the user as others see them from now on.
type ProfileReply struct {
	User User `json:"user"`
}

// PictureRequest is the body of POST /v1/picture: a JPEG or PNG in base64, a square of 32 to 256 pixels and at most 32
// KiB. The server encodes it again as a JPEG, which must have at most 16 KiB. "" removes the user's pictures and the avatar.
type PictureRequest struct {
	Picture *string `json:"picture,omitempty"` // required; it may be empty
}

// PictureReply is the reply to PictureRequest: the user as others see them from now on.
type PictureReply struct {
	User User `json:"user"`
}

// DeviceCodeReply holds a code with which the guest may sign in once on another device.
type DeviceCodeReply struct {
	Code      string `json:"code"`
	ExpiresAt int64  `json:"expires_at"`
}

// RedeemRequest is the body of POST /v1/guests/redeem. Its reply is a GuestReply.
type RedeemRequest struct {
	Code string `json:"code"`
}

// DisconnectRequest is the body of the admin's disconnect.
type DisconnectRequest struct {
	User string `json:"user"`
}

// DisconnectReply is the reply to DisconnectRequest, and to the sign_out of a guest.
type DisconnectReply struct{}

// StatsReply holds figures of one instance: its present state, and counts since it started.
type StatsReply struct {
	Instance    string        `json:"instance"`
	Version     string        `json:"version"`
	StartedAt   int64         `json:"started_at"`
	Draining    bool          `json:"draining"`
	Connections int           `json:"connections"`
	Users       int           `json:"users"`
	Topics      int           `json:"topics"`
	QueuedBytes int64         `json:"queued_bytes"`
	Delivered   int64         `json:"delivered"` // pushes, counted once for each connection
	Shed        int64         `json:"shed"`      // pushes without a seq that were dropped for slow connections
	GapRepairs  int64         `json:"gap_repairs"`
	BusDown     bool          `json:"bus_down"`
	Closes      map[int]int64 `json:"closes"` // by code
	Grabs       GrabStats     `json:"grabs"`
}

// GrabStats counts grabs, each once by its final outcome, or as failed. It does not count grabs that are refused before their
// packet is looked up, such as those over a user's rate.
type GrabStats struct {
	Won       int64 `json:"won"`
	Already   int64 `json:"already"`
	Empty     int64 `json:"empty"`
	Expired   int64 `json:"expired"`
	Entered   int64 `json:"entered"`
	Elsewhere int64 `json:"elsewhere"`
	Failed    int64 `json:"failed"`
}
