package wire

// Scope names operations of the server API that a key of the host may call.
type Scope string

// The scopes. A key with the scope admin may call all operations. Package hostapi says which operations have which scope.
const (
	ScopeRead     Scope = "read"
	ScopeSupport  Scope = "support"
	ScopeChat     Scope = "chat"
	ScopeMoney    Scope = "money"
	ScopeModerate Scope = "moderate"
	ScopePrivacy  Scope = "privacy"
	ScopeAdmin    Scope = "admin"
)

// Group is a group of commands or endpoints in the documents.
type Group struct {
	Name, Does string
	Page       string // the page of web/docs/protocol that has a section for each command of the group; "": the group has no commands
}

// Groups holds the groups, in the order of the documents.
var Groups = []Group{
	{"rooms", "Rooms and their members.", "rooms.md"},
	{"links", "Invite links, and users that ask to enter a room.", "rooms.md"},
	{"order", "Rules of a room, and the texts that wait for its admins.", "order.md"},
	{"contacts", "Which users may contact the caller, and the names of others.", "rooms.md"},
	{"push", "Notifications for users that have no socket (Web Push).", "notifications.md"},
	{"messages", "Texts, reactions, history and what was read.", "messages.md"},
	{"files", "Pictures, recordings and other files of texts.", "files.md"},
	{"packets", "Red packets: send, grab, look at.", "packets.md"},
	{"wallet", "The caller's money.", "wallet.md"},
	{"picture", "The picture by which others see the caller.", ""},
	{"admin", "Administration by the host's back end.", ""},
	{"guests", "Users without an account of the host.", ""},
}

// Rate bounds how often a user may call the commands whose Method.Rate names it.
type Rate struct {
	Name      string // that of the first command
	PerSecond float64
	Burst     int
	Counted   string // how it is counted, for the documents
}

// Rates holds the rates of commands. edit and react count as send, because their entries cost a room as much as a text.
var Rates = []Rate{
	{"send", 10, 20, "per user, over all instances"},
	{"send_packet", 2, 5, "per user, over all instances"},
	{"grab", 20, 40, "per user, see below"},
	{"report", 0.1, 10, "per user, over all instances"},
}

// Right says which users may call a command; others are refused with forbidden, unless the words name another error. Direct says
// what holds in direct rooms; "": the command is not about a room. Both are for the documents: TestAuthorisation of package web tests
// what is allowed.
type Right struct{ Who, Direct string }

// The rights of the commands.
var (
	anyone      = Right{"everyone", ""}
	entering    = Right{"public room: everyone not banned; private room: see [`join`](rooms.md#join)", "former members are refused: `direct` brings the caller back"}
	leaving     = Right{"members and former members", "the same"}
	members     = Right{"members", "the same"}
	linkOwners  = Right{"members, about their own links; the owner and admins, about all", "the same; there are no links"}
	codeHolders = Right{"everyone not banned that has the code", "no link leads there"}
	inviters    = Right{"members that are not muted; if the room's `invite` is `admins`, the owner and admins", "`forbidden`"}
	superiors   = Right{"the owner over all others; admins over plain members and outsiders; no user over themself", "`forbidden`"}
	admins      = Right{"owner and admins", "`forbidden`"}
	owners      = Right{"the owner", "`forbidden`"}
	writers     = Right{"members that are not muted; [typing](messages.md#typing), too", "the same"}
	authors     = Right{"the author of the text, within 2 minutes, not muted", "the same"}
	recallers   = Right{"the author within 2 minutes; owner and admins any text at any time, the owner's too", "the author only"}
	uploaders   = Right{"the uploader", "the same"}
	appellants  = Right{"the user against whom a report was decided, if nobody has appealed", "the same; there are no reports"}
	grabbers    = Right{"see [`grab`](packets.md#grab); a banned user gets `not_member`", "the same"}
	senders     = Right{"the sender of the packet, member or not", "the same"}
)
