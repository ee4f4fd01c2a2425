package wire

// ConnectData is the data of a connect reply: everything that a client needs for its first screen.
type ConnectData struct {
	User           User     `json:"user"`
	Currency       Currency `json:"currency"`
	Balance        int64    `json:"balance"`
	AccountVersion int64    `json:"account_version"`
	NextCommitment string   `json:"next_commitment"`
	Limits         Limits   `json:"limits"`
	Rooms          []MyRoom `json:"rooms"`
	PacketStates   []State  `json:"packet_states"`
}

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

// Limits holds the limits that the server enforces. Characters are counted as Unicode code points.
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
	InviteUsers       int   `json:"invite_users"`
	PacketTo          int   `json:"packet_to"`
	RoomMembers       int   `json:"room_members"`
	Rooms             int   `json:"rooms"`
	SocketsPerUser    int   `json:"sockets_per_user"`
	PacketTotal       int64 `json:"packet_total"`
	PacketCount       int   `json:"packet_count"`
	TTLMinS           int   `json:"ttl_min_s"`
	TTLMaxS           int   `json:"ttl_max_s"`
	TTLDefaultS       int   `json:"ttl_default_s"`
}

// The limits of a frame.
const (
	FrameBytes       = 64 << 10
	CommandsPerFrame = 32
)

// DefaultLimits returns the limits of web/docs/protocol/limits.md.
func DefaultLimits() Limits {
	return Limits{
		FrameBytes: FrameBytes, CommandsPerFrame: CommandsPerFrame,
		TextChars: 4000, DataBytes: 4096, NameChars: 64, AnnouncementChars: 1000, GreetingChars: 60,
		PassphraseChars: 32, EmojiChars: 16, Mentions: 50, InviteUsers: 100, PacketTo: 200,
		RoomMembers: 100_000, Rooms: 500, SocketsPerUser: 10,
		PacketTotal: 20_000_000, PacketCount: 10_000, TTLMinS: 5, TTLMaxS: 7 * 86_400, TTLDefaultS: 86_400,
	}
}
