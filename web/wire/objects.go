package wire

// User is a user as others see them.
type User struct {
	ID     string `json:"id" doc:"the 'sub' of the JWT, or 'guest:…'; '~system': the host's [back end](../server-api.md#speak-as-the-system), which is in no list of members"`
	Name   string `json:"name" doc:"display name, [normalised](limits.md#texts)"`
	Avatar string `json:"avatar,omitempty" doc:"URL of http or https, or relative"`
	Guest  bool   `json:"guest,omitempty" doc:"true: a user without an account of the host"`
}

// Room is a room as a user sees it. Role, Silent, Pinned and Archived are of that user; they are left out where the user
// is not known to be a member. Invite, Guests and Packets are left out where they are as usual: admins invite in private
// rooms, members in public ones, guests may enter, and users may send packets.
type Room struct {
	ID           string `json:"id" doc:"id"`
	Name         string `json:"name" doc:"empty for a direct room"`
	Kind         string `json:"kind" enum:"public,private,direct" doc:"'public', 'private' or 'direct'"`
	Announcement string `json:"announcement,omitempty" doc:"text"`
	Invite       string `json:"invite,omitempty" enum:"members,admins" doc:"which members may invite: 'members' or 'admins'; left out at the default: 'admins' in a private room, 'members' in a public one"`
	Guests       *bool  `json:"guests,omitempty" doc:"false: guests cannot enter; left out when they can"`
	Packets      *bool  `json:"packets,omitempty" doc:"false: nobody can send packets; left out when they can be sent. Disable the button; grabs go on"`
	Frozen       bool   `json:"frozen,omitempty" doc:"true: the host has frozen the room, and only the system may post. Disable the message field; grabs go on"`
	Members      int    `json:"members" doc:"number of members"`
	LastSeq      int64  `json:"last_seq" doc:"seq of the last entry"`
	CreatedAt    int64  `json:"created_at" doc:"Unix milliseconds"`
	Role         string `json:"role,omitempty" enum:"owner,admin,member" doc:"role of the user that asks: 'owner', 'admin' or 'member'"`
	Silent       bool   `json:"silent,omitempty" doc:"true if the user that asks has [decided so](rooms.md#set_room_prefs); at a connect and on entering"`
	SilentUntil  int64  `json:"silent_until,omitempty" doc:"when that silence ends, ms; left out: it does not"`
	Pinned       bool   `json:"pinned,omitempty" doc:"true if the user that asks has [decided so](rooms.md#set_room_prefs); at a connect and on entering"`
	Archived     bool   `json:"archived,omitempty" doc:"true if the user that asks has [decided so](rooms.md#set_room_prefs); at a connect and on entering"`
}

// Packet is the part of a packet that never changes.
type Packet struct {
	ID         string   `json:"id" doc:"id"`
	Room       string   `json:"room" doc:"id of the room"`
	From       User     `json:"from" doc:"the User that sent it"`
	Mode       string   `json:"mode" enum:"lucky,equal" doc:"'lucky' or 'equal'"`
	Spread     string   `json:"spread" enum:"calm,classic,wild," doc:"'calm', 'classic' or 'wild'; '\"\"' for 'equal'"`
	Total      int64    `json:"total" doc:"sum in minor units"`
	Count      int      `json:"count" doc:"number of shares"`
	Greeting   string   `json:"greeting" doc:"text"`
	To         []string `json:"to,omitempty" doc:"the users that may grab; missing: all members"`
	Locked     bool     `json:"locked" doc:"true: a passphrase is asked"`
	CreatedAt  int64    `json:"created_at" doc:"Unix milliseconds"`
	ExpiresAt  int64    `json:"expires_at" doc:"Unix milliseconds"`
	Commitment string   `json:"commitment" doc:"hex SHA-256 of the seed, see [Proof](proof.md)"`
	Key        string   `json:"key" doc:"the sender's key"`

	EarlierMembers bool   `json:"earlier_members,omitempty" doc:"true: only users may grab that have been members since before the packet was sent"`
	OnePerPerson   bool   `json:"one_per_person,omitempty" doc:"true: it pays at most one share to each [person](packets.md#one-a-person)"`
	Skin           string `json:"skin,omitempty" doc:"the drawing on the envelope: 'cloud', 'koi', 'plum', 'lantern', 'moon', or one that the host brings; missing or unknown: draw the plain one"`

	OpensAt int64 `json:"opens_at,omitempty" doc:"Unix milliseconds: it opens then; missing: it is open once it is sent"`

	Held      int   `json:"held,omitempty" doc:"number of shares that are held for some users; missing: none"`
	HeldUntil int64 `json:"held_until,omitempty" doc:"Unix milliseconds: then they are free to all"`

	WindowS int    `json:"window_s,omitempty" doc:"of a draw: users can enter for so many seconds, until 'expires_at'"`
	Rest    string `json:"rest,omitempty" enum:"refund,share" doc:"of a draw: 'refund' or 'share'"`

	Waves   int `json:"waves,omitempty" doc:"of a [rain](rain.md): the shares come up in so many waves"`
	OverS   int `json:"over_s,omitempty" doc:"of a rain: the waves come within so many seconds, until 'expires_at'"`
	MaxWins int `json:"max_wins,omitempty" doc:"of a rain: waves that one user may win"`
}

// State is the state of a packet as one user may see it. Refunded is left out when it is 0.
type State struct {
	Packet   string     `json:"packet" doc:"id"`
	Status   string     `json:"status" enum:"open,drained,expired,cancelled" doc:"'open', 'drained', 'expired' or 'cancelled'"`
	Claimed  int        `json:"claimed" doc:"number of shares taken"`
	Mine     *Mine      `json:"mine,omitempty" doc:"{amount, rank, at}: the share of the user that asks"`
	Luckiest *Luckiest  `json:"luckiest,omitempty" doc:"{user, amount, rank}; 'user' is an id; once a lucky packet is finished"`
	Refunded int64      `json:"refunded,omitempty" doc:"left out when it is 0"`
	Draw     *Draw      `json:"draw,omitempty" doc:"{participants, root, receipt}; only of a draw or rain"`
	Rain     *RainState `json:"rain,omitempty" doc:"{wave, ends_at, drawn, wins}; only of a rain"`
}

// RainState is the state of a rain. Wave is the last wave that has begun, and EndsAt is set while it can be entered. Drawn counts the waves
// that have been drawn. Wins are the shares that the user has won.
type RainState struct {
	Wave   int   `json:"wave,omitempty"`
	EndsAt int64 `json:"ends_at,omitempty"`
	Drawn  int   `json:"drawn"`
	Wins   []Win `json:"wins,omitempty"`
}

// Win is a share that a user has won in a wave.
type Win struct {
	Wave   int   `json:"wave"`
	Amount int64 `json:"amount"`
	Rank   int   `json:"rank"`
}

// Draw is the state of a draw. Root is set when it has ended, and Receipt if the user that asks has entered.
type Draw struct {
	Participants int      `json:"participants"`
	Root         string   `json:"root,omitempty"`
	Receipt      *Receipt `json:"receipt,omitempty"`
}

// Receipt is the server's word that a user takes part in a draw.
type Receipt struct {
	Packet    string `json:"packet" doc:"id of the draw"`
	Wave      int    `json:"wave,omitempty" doc:"of a rain"`
	User      string `json:"user" doc:"id"`
	Leaf      string `json:"leaf" doc:"hex: what the root covers of the user, see [Proof](proof.md)"`
	At        int64  `json:"at" doc:"Unix milliseconds"`
	Key       string `json:"key" doc:"hex: the public key of the signature"`
	Signature string `json:"signature" doc:"hex: Ed25519 over the other fields"`
}

// Mine is the user's own share of a packet.
type Mine struct {
	Amount int64 `json:"amount"`
	Rank   int   `json:"rank"`
	At     int64 `json:"at"`
}

// Luckiest is the largest share that a user got of a finished lucky packet of two or more shares.
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

// Proof shows that the shares follow from a seed to which the server had committed before the packet was sent.
type Proof struct {
	Seed       string  `json:"seed"`
	Commitment string  `json:"commitment"`
	Shares     []int64 `json:"shares"`
}

// Transfer is one transfer into or out of the user's wallet.
type Transfer struct {
	ID     string `json:"id"`
	At     int64  `json:"at"`
	Amount int64  `json:"amount"` // signed
	Kind   string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet string `json:"packet,omitempty"`
	Note   string `json:"note,omitempty"`
}

// ConnectData is the data of a connect reply: everything that a client needs for its first screen.
type ConnectData struct {
	User           User     `json:"user"`
	Currency       Currency `json:"currency"`
	Balance        int64    `json:"balance"`
	AccountVersion int64    `json:"account_version"`
	NextCommitment string   `json:"next_commitment"`
	ReceiptKey     string   `json:"receipt_key,omitempty"` // hex: the public key that signs receipts of draws
	Limits         Limits   `json:"limits"`
	Rooms          []MyRoom `json:"rooms"`
	PacketStates   []State  `json:"packet_states"`
	RoomsNext      string   `json:"rooms_next,omitempty"` // there are more rooms: cursor for the command rooms
}

// ConnectAsk is what a client may ask for in the data of its connect command.
type ConnectAsk struct {
	Rooms int `json:"rooms,omitempty"` // at most so many in ConnectData.Rooms, those created last; 0: all
}

// MaxAskedRooms is the largest number of rooms that ConnectAsk.Rooms asks for: a larger one counts as this.
const MaxAskedRooms = 100

// Currency describes the unit of money: amounts are in units of 10^-Exponent of the currency.
type Currency struct {
	Code     string `json:"code"`
	Exponent int    `json:"exponent"`
}

// MyRoom is a room as one of its members sees it.
type MyRoom struct {
	Room
	ReadSeq int64 `json:"read_seq"`
	Unread  int64 `json:"unread"`
}

// Limits holds limits that the server enforces and tells its clients. Characters are counted as Unicode code points.
type Limits struct {
	FrameBytes        int   `json:"frame_bytes"`
	CommandsPerFrame  int   `json:"commands_per_frame"`
	TextChars         int   `json:"text_chars"`
	DataBytes         int   `json:"data_bytes"`
	NameChars         int   `json:"name_chars"`
	AnnouncementChars int   `json:"announcement_chars"`
	GreetingChars     int   `json:"greeting_chars"`
	PassphraseChars   int   `json:"passphrase_chars"`
	EmojiChars        int   `json:"emoji_chars"`
	Mentions          int   `json:"mentions"`
	QueryChars        int   `json:"query_chars,omitempty"`
	Files             int   `json:"files,omitempty"`
	FileBytes         int64 `json:"file_bytes,omitempty"`
	FileDayBytes      int64 `json:"file_day_bytes,omitempty"`
	InviteUsers       int   `json:"invite_users"`
	PacketTo          int   `json:"packet_to"`
	RoomMembers       int   `json:"room_members"`
	Rooms             int   `json:"rooms"`
	PublicRooms       int   `json:"public_rooms,omitempty"`
	Blocks            int   `json:"blocks,omitempty"`
	CreatesPerMinute  int   `json:"creates_per_minute,omitempty"`
	InvitesPerMinute  int   `json:"invites_per_minute,omitempty"`
	DirectsPerMinute  int   `json:"directs_per_minute,omitempty"`
	OpenPackets       int   `json:"open_packets,omitempty"`
	SocketsPerUser    int   `json:"sockets_per_user"`
	PacketTotal       int64 `json:"packet_total"`
	PacketCount       int   `json:"packet_count"`
	TTLMinS           int   `json:"ttl_min_s"`
	TTLMaxS           int   `json:"ttl_max_s"`
	TTLDefaultS       int   `json:"ttl_default_s"`
	WindowMinS        int   `json:"window_min_s,omitempty"`
	WindowMaxS        int   `json:"window_max_s,omitempty"`
	WavesMin          int   `json:"waves_min,omitempty"`
	WavesMax          int   `json:"waves_max,omitempty"`
	RainMinS          int   `json:"rain_min_s,omitempty"`
	RainMaxS          int   `json:"rain_max_s,omitempty"`
	OpensInMaxS       int   `json:"opens_in_max_s,omitempty"`
}

// The limits of a frame.
const (
	FrameBytes       = 64 << 10
	CommandsPerFrame = 32
)

// DefaultLimits returns the default sizes of web/docs/protocol/limits.md. It leaves OpenPackets and the limits per minute 0.
func DefaultLimits() Limits {
	return Limits{
		FrameBytes: FrameBytes, CommandsPerFrame: CommandsPerFrame,
		TextChars: 4000, DataBytes: 4096, NameChars: 64, AnnouncementChars: 1000, GreetingChars: 60,
		PassphraseChars: 32, EmojiChars: 16, Mentions: 50, QueryChars: 200, Files: 10, FileBytes: 25 << 20, FileDayBytes: 500 << 20, InviteUsers: 100, PacketTo: 200,
		RoomMembers: 100_000, Rooms: 500, PublicRooms: 50, Blocks: 1000, SocketsPerUser: 10,
		PacketTotal: 20_000_000, PacketCount: 10_000, TTLMinS: 5, TTLMaxS: 7 * 86_400, TTLDefaultS: 86_400, WindowMinS: 3, WindowMaxS: 600,
		WavesMin: 3, WavesMax: 100, RainMinS: 10, RainMaxS: 600, OpensInMaxS: 7 * 86_400,
	}
}
