package wire

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Method describes one command, one endpoint (Endpoint), or one operation of the server API (hostapi.Operation). The
// specifications, tests and several packages read it, such as frame (names) and api (costs).
type Method struct {
	Name    string
	Does    string // what the method does, for the documents
	Note    string // what callers of the SDKs should know besides
	Request any    // a zero value of the request type; nil: no body
	Reply   any
	Group   string // name of the group of Groups under which the documents list it
	Errors  []Code // errors that the method may return, besides those in Always

	// Only of commands.
	Rate     string // name of the rate of Rates that the command counts against, besides contact rates; "": none
	Cost     int    // what the command takes from the user's budget; 0: nothing, but send_packet pays for its shares
	AsUser   Scope  // the scope that a key of the host needs to call the command for a user
	AsSystem Scope  // the scope that a key of the host needs to call the command in the host's own name (as chat.System); "": it cannot
	Right    Right  // which users may call the command
}

// Always holds the codes that every command may return. OverHTTP holds those that each of Methods may return in addition over
// HTTP, where each request has a token of its own and names its command in the path.
var (
	Always   = []Code{CodeInternal, CodeBadRequest, CodeRateLimited, CodeUnavailable}
	OverHTTP = []Code{CodeUnauthorized, CodeUnknownCommand, CodeTokenExpired, CodeSuspended}
)

// Sets of codes that several methods share. outside is for commands that only members may call, writing for commands that write
// into the room, govern for commands that are forbidden to some of the members.
var (
	outside = []Code{CodeNotFound, CodeNotMember, CodeBanned}
	writing = slices.Concat(outside, []Code{CodeMuted})
	govern  = slices.Concat(outside, []Code{CodeForbidden})
)

// Methods holds the commands that every user may call, over the socket and by POST /v1/commands/{method}.
var Methods = []Method{
	{
		Name: "create_room", Does: "Creates a room; the user becomes its owner.", Request: CreateRoomRequest{}, Reply: CreateRoomReply{},
		Group: "rooms", AsUser: ScopeChat, Right: anyone, Errors: []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused, CodeContactRefused, CodeDenied}, Cost: 20,
	},
	{
		Name: "direct", Does: "Returns the direct room of two users, and adds the caller if the caller has left it.",
		Note: "It does not add the other user, if that one has left it.", Request: DirectRequest{}, Reply: DirectReply{},
		Group: "rooms", AsUser: ScopeChat, Right: anyone, Errors: []Code{CodeLimitExceeded, CodeContactRefused}, Cost: 5,
	},
	{
		Name: "block", Does: "Blocks a user, and takes the caller out of the direct room of the two.", Request: BlockRequest{}, Reply: BlockReply{},
		Group: "contacts", AsUser: ScopeChat, Right: anyone, Errors: []Code{CodeLimitExceeded}, Cost: 5,
	},
	{
		Name: "unblock", Does: "Ends a block.",
		Note: "It brings neither user back to their direct room.", Request: UnblockRequest{}, Reply: UnblockReply{},
		Group: "contacts", AsUser: ScopeChat, Right: anyone, Cost: 5,
	},
	{
		Name: "set_contact", Does: "Sets which users may open direct rooms with the caller and put the caller into rooms.",
		Note: "The setting is everyone, shared (users of a common room) or nobody.", Request: SetContactRequest{}, Reply: SetContactReply{},
		Group: "contacts", AsUser: ScopeChat, Right: anyone, Cost: 5,
	},
	{
		Name: "contacts", Does: "Returns the caller's contact setting and the users that the caller has blocked.", Request: ContactsRequest{}, Reply: ContactsReply{},
		Group: "contacts", AsUser: ScopeRead, Right: anyone, Cost: 5,
	},
	{
		Name: "users", Does: "Returns the names and avatars of users that are in a room together with the caller.",
		Note: "The users are named by id, at most 100.", Request: UsersRequest{}, Reply: UsersReply{},
		Group: "contacts", AsUser: ScopeRead, Right: anyone, Errors: []Code{CodeLimitExceeded}, Cost: 5,
	},
	{
		Name: "join", Does: "Joins a public room, or a private room that the caller has left.", Request: JoinRequest{}, Reply: JoinReply{},
		Group: "rooms", AsUser: ScopeChat, Right: entering, Errors: []Code{CodeForbidden, CodeNotFound, CodeBanned, CodeLimitExceeded}, Cost: 5,
	},
	{
		Name: "leave", Does: "Leaves a room.", Request: LeaveRequest{}, Reply: LeaveReply{},
		Group: "rooms", AsUser: ScopeChat, Right: leaving, Errors: []Code{CodeNotFound, CodeNotMember}, Cost: 5,
	},
	{
		Name: "rooms", Does: "Lists the caller's rooms, those created last first.",
		Note: "The client knows them all once it is ready.", Request: RoomsRequest{}, Reply: RoomsReply{},
		Group: "rooms", AsUser: ScopeRead, Right: anyone, Cost: 10,
	},
	{
		Name: "find_rooms", Does: "Lists public rooms that have members, newest first.",
		Note: "The query matches part of a name. A missing one matches all, and the id of a public room matches that room. A page may have fewer rooms than `limit`, although `next` leads on.", Request: FindRoomsRequest{}, Reply: FindRoomsReply{},
		Group: "rooms", AsUser: ScopeRead, Right: anyone, Errors: []Code{CodeTooLong}, Cost: 10,
	},
	{
		Name: "invite", Does: "Adds users to the room: all of them or none.", Request: InviteRequest{}, Reply: InviteReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeChat, Right: inviters,
		Errors: slices.Concat(govern, []Code{CodeMuted, CodeLimitExceeded, CodeContactRefused, CodeDenied}), Cost: 10,
	},
	{
		Name: "create_link", Does: "Makes an invite link of the room. The reply alone has its code.", Request: CreateLinkRequest{}, Reply: CreateLinkReply{},
		Group: "links", AsUser: ScopeChat, Right: inviters, Errors: slices.Concat(govern, []Code{CodeMuted, CodeLimitExceeded, CodeKeyReused}), Cost: 10,
	},
	{
		Name: "links", Does: "Lists the invite links of the room: to the owner and admins all, to others their own.", Request: LinksRequest{}, Reply: LinksReply{},
		Group: "links", AsUser: ScopeRead, Right: linkOwners, Errors: outside, Cost: 5,
	},
	{
		Name: "revoke_link", Does: "Ends an invite link.",
		Note: "A repeated call succeeds.", Request: RevokeLinkRequest{}, Reply: RevokeLinkReply{},
		Group: "links", AsUser: ScopeChat, Right: linkOwners, Errors: outside, Cost: 5,
	},
	{
		Name: "join_link", Does: "Joins the room of an invite link, or asks to.",
		Note: "If the user must wait, an event tells when the user was let in, and another one when the request was dropped.", Request: JoinLinkRequest{}, Reply: JoinLinkReply{},
		Group: "links", AsUser: ScopeChat, Right: codeHolders, Errors: []Code{CodeForbidden, CodeNotFound, CodeBanned, CodeLimitExceeded}, Cost: 20,
	},
	{
		Name: "join_requests", Does: "Lists the users that ask to enter the room.",
		Note: "Only the owner and admins may call it.", Request: JoinRequestsRequest{}, Reply: JoinRequestsReply{},
		Group: "links", AsUser: ScopeRead, Right: admins, Errors: govern, Cost: 5,
	},
	{
		Name: "answer_request", Does: "Lets a user in that asks to enter the room, or drops the user's request.", Request: AnswerRequestRequest{}, Reply: AnswerRequestReply{},
		Group: "links", AsUser: ScopeChat, Right: admins, Errors: slices.Concat(govern, []Code{CodeLimitExceeded}), Cost: 5,
	},
	{
		Name: "rules", Does: "Returns the rules of the room.",
		Note: "Only the owner and admins may call it.", Request: RulesRequest{}, Reply: RulesReply{},
		Group: "order", AsUser: ScopeRead, AsSystem: ScopeModerate, Right: admins, Errors: govern, Cost: 5,
	},
	{
		Name: "set_rules", Does: "Replaces the rules of the room, or tries some on its last texts.",
		Note: "Only the owner and admins may call it.", Request: SetRulesRequest{}, Reply: SetRulesReply{},
		Group: "order", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: admins, Errors: govern, Cost: 20,
	},
	{
		Name: "held_texts", Does: "Lists the texts that wait for the owner or an admin of the room, the oldest first.",
		Note: "Only the owner and admins may call it.", Request: HeldTextsRequest{}, Reply: HeldTextsReply{},
		Group: "order", AsUser: ScopeRead, AsSystem: ScopeModerate, Right: admins, Errors: govern, Cost: 5,
	},
	{
		Name: "answer_text", Does: "Sends a held text as its author's, or drops it.", Request: AnswerTextRequest{}, Reply: AnswerTextReply{},
		Group: "order", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: admins, Errors: slices.Concat(govern, []Code{CodeConflict}), Cost: 5,
	},
	{
		Name: "kick", Does: "Removes a user from the room; after a ban the user cannot come back.", Request: KickRequest{}, Reply: KickReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: superiors, Errors: slices.Concat(govern, []Code{CodeTooLong}), Cost: 5,
	},
	{
		Name: "unban", Does: "Allows a banned user to come back.",
		Note: "It does not add the user to the room.", Request: UnbanRequest{}, Reply: UnbanReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: superiors, Errors: govern, Cost: 5,
	},
	{
		Name: "set_role", Does: "Changes a member's role; the role owner hands the room over.",
		Note:    "An owner that names another one becomes an admin. So if the first answer was lost, the repeated call is refused as forbidden, and marked as repeated.",
		Request: SetRoleRequest{}, Reply: SetRoleReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeChat, Right: owners, Errors: govern, Cost: 5,
	},
	{
		Name: "mute", Does: "Forbids a user to send for some seconds; 0 ends the mute.", Request: MuteRequest{}, Reply: MuteReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: superiors, Errors: govern, Cost: 5,
	},
	{
		Name: "update_room", Does: "Changes the room's name, announcement or settings.", Request: UpdateRoomRequest{}, Reply: UpdateRoomReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeChat, Right: admins, Errors: slices.Concat(govern, []Code{CodeTooLong}), Cost: 5,
	},
	{
		Name: "delete_room", Does: "Deletes the room for good. Its open packets are closed: shares granted so far are paid, the rest is refunded.",
		Request: DeleteRoomRequest{}, Reply: DeleteRoomReply{},
		Group: "rooms", AsUser: ScopeChat, AsSystem: ScopeChat, Right: owners, Errors: govern, Cost: 20,
	},
	{
		Name: "set_room_prefs", Does: "Silences, pins or archives the room for the caller alone.", Request: SetRoomPrefsRequest{}, Reply: SetRoomPrefsReply{},
		Group: "rooms", AsUser: ScopeChat, Right: members, Errors: outside, Cost: 5,
	},
	{
		Name: "push_key", Does: "Returns the public key that browsers need to subscribe to notifications, if there is one.",
		Request: PushKeyRequest{}, Reply: PushKeyReply{},
		Group: "push", AsUser: ScopeRead, Right: anyone, Cost: 1,
	},
	{
		Name: "subscribe_push", Does: "Adds a push subscription of the caller's browser.", Request: SubscribePushRequest{}, Reply: SubscribePushReply{},
		Group: "push", AsUser: ScopeChat, Right: anyone, Cost: 10,
	},
	{
		Name: "unsubscribe_push", Does: "Removes a push subscription.", Request: UnsubscribePushRequest{}, Reply: UnsubscribePushReply{},
		Group: "push", AsUser: ScopeChat, Right: anyone, Cost: 5,
	},
	{
		Name: "members", Does: "Lists the members of the room: the owner, admins, then the others.", Request: MembersRequest{}, Reply: MembersReply{},
		Group: "rooms", AsUser: ScopeRead, AsSystem: ScopeRead, Right: members, Errors: outside, Cost: 5,
	},
	{
		Name: "send", Does: "Sends a text, an object of the integrator, or both.", Request: SendRequest{}, Reply: SendReply{},
		Group: "messages", AsUser: ScopeChat, AsSystem: ScopeChat, Right: writers,
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused, CodeConflict, CodeContactRefused, CodeDenied}), Rate: "send",
	},
	{
		Name: "edit", Does: "Edits the user's own text, within two minutes.", Request: EditRequest{}, Reply: SeqReply{},
		Group: "messages", AsUser: ScopeChat, AsSystem: ScopeChat, Right: authors,
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeConflict, CodeEditWindowOver, CodeContactRefused, CodeDenied}), Rate: "send",
	},
	{
		Name: "recall", Does: "Recalls a text and removes it from storage.",
		Note: "It is the user's own text, within two minutes of sending, or any text if the user is the owner or an admin.", Request: RecallRequest{}, Reply: SeqReply{},
		Group: "messages", AsUser: ScopeChat, AsSystem: ScopeModerate, Right: recallers, Errors: slices.Concat(govern, []Code{CodeEditWindowOver}), Cost: 5,
	},
	{
		Name: "react", Does: "Puts an emoji on a text or a packet, or removes it.", Request: ReactRequest{}, Reply: ReactReply{},
		Group: "messages", AsUser: ScopeChat, Right: writers,
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeConflict, CodeContactRefused}), Rate: "send",
	},
	{
		Name: "report", Does: "Reports a text, a packet or a user to the host.", Request: ReportRequest{}, Reply: ReportReply{},
		Group: "messages", AsUser: ScopeChat, Right: members, Errors: slices.Concat(outside, []Code{CodeTooLong, CodeKeyReused}), Rate: "report",
	},
	{
		Name: "reports", Does: "Lists reports of the user, or decisions about the user, the newest first.", Request: ReportsRequest{}, Reply: ReportsReply{},
		Group: "messages", AsUser: ScopeRead, Right: anyone, Cost: 5,
	},
	{
		Name: "appeal", Does: "Asks the host to decide a report again.", Note: "The decision went against the user. A report has one appeal at most.",
		Request: AppealRequest{}, Reply: AppealReply{}, Group: "messages", AsUser: ScopeChat, Right: appellants,
		Errors: []Code{CodeNotFound, CodeConflict, CodeTooLong}, Rate: "report",
	},
	{
		Name: "mentions", Does: "Lists texts that mention the user, newest first.",
		Note: "A page may be empty and have a next one.", Request: MentionsRequest{}, Reply: MentionsReply{},
		Group: "messages", AsUser: ScopeRead, Right: anyone, Cost: 5,
	},
	{
		Name: "search", Does: "Finds texts, and packets by their greetings, in the user's rooms, newest first.",
		Note: "A page may be empty and have a next one.", Request: SearchRequest{}, Reply: SearchReply{},
		Group: "messages", AsUser: ScopeRead, AsSystem: ScopeModerate, Right: members, Errors: slices.Concat(outside, []Code{CodeTooLong}), Cost: 10,
	},
	{
		Name: "begin_file", Does: "Begins the upload of a picture, a recording or another file for a text of the room.", Request: BeginFileRequest{}, Reply: FileState{},
		Group: "files", AsUser: ScopeChat, Right: writers, Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded}), Cost: 5,
	},
	{
		Name: "file_state", Does: "Tells how far an upload of the user has come.", Request: FileRequest{}, Reply: FileState{},
		Group: "files", AsUser: ScopeRead, Right: uploaders, Errors: []Code{CodeNotFound}, Cost: 1,
	},
	{
		Name: "cancel_file", Does: "Removes a file that the user has uploaded and not sent.", Request: FileRequest{}, Reply: CancelFileReply{},
		Group: "files", AsUser: ScopeChat, Right: uploaders, Errors: []Code{CodeNotFound, CodeConflict}, Cost: 1,
	},
	{
		Name: "file_links", Does: "Returns links by which files of the room can be read for 10 to 15 minutes.", Request: FileLinksRequest{}, Reply: FileLinksReply{},
		Group: "files", AsUser: ScopeRead, Right: members, Errors: slices.Concat(outside, []Code{CodeLimitExceeded}), Cost: 1,
	},
	{
		Name: "history", Does: "Reads entries of the room, in ascending order; texts as they are now.",
		Note: "Without a cursor they are the newest.", Request: HistoryRequest{}, Reply: HistoryReply{},
		Group: "messages", AsUser: ScopeRead, AsSystem: ScopeRead, Right: members, Errors: outside, Cost: 5,
	},
	{
		Name: "read", Does: "Stores how far the user has read; the position never moves back.",
		Note: "The reply says how many entries are unread.", Request: ReadRequest{}, Reply: ReadReply{},
		Group: "messages", AsUser: ScopeChat, Right: members, Errors: outside, Cost: 1,
	},
	{
		Name: "presence", Does: "Returns how many of the room's members are online, and in small rooms which.", Request: PresenceRequest{}, Reply: PresenceReply{},
		Group: "rooms", AsUser: ScopeRead, Right: members, Errors: outside, Cost: 2,
	},
	{
		Name: "send_packet", Does: "Sends money into the room, to be grabbed in shares.", Request: SendPacketRequest{}, Reply: SendPacketReply{},
		Group: "packets", AsUser: ScopeMoney, Right: writers,
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused, CodeConflict, CodeInsufficientBalance, CodeContactRefused, CodeWalletFrozen, CodeDenied}), Rate: "send_packet",
	},
	{
		Name: "grab", Does: "Grabs a share of a packet. The result is an outcome, not an error.", Request: GrabRequest{}, Reply: GrabReply{},
		Group: "packets", AsUser: ScopeMoney, Right: grabbers,
		Errors: []Code{CodeNotFound, CodeNotMember, CodeLimitExceeded, CodeNotRecipient, CodeJoinedLater, CodeNotYet, CodeWrongPassphrase, CodeDenied}, Rate: "grab",
	},
	{
		Name: "packet", Does: "Returns a packet, its claims, and its proof once it has ended.", Request: PacketRequest{}, Reply: PacketReply{},
		Group: "packets", AsUser: ScopeRead, Right: members, Errors: outside, Cost: 5,
	},
	{
		Name: "cancel_packet", Does: "Cancels the user's own packet before the first grab.", Request: CancelPacketRequest{}, Reply: CancelPacketReply{},
		Group: "packets", AsUser: ScopeMoney, Right: senders, Errors: slices.Concat(govern, []Code{CodePacketFinished}), Cost: 5,
	},
	{
		Name: "packets", Does: "Lists packets that the user has sent or has shares of, or those that wait for the user.", Request: PacketsRequest{}, Reply: PacketsReply{},
		Group: "packets", AsUser: ScopeRead, Right: anyone, Cost: 5,
	},
	{
		Name: "room_packets", Does: "Lists the packets of the room, newest first: all, those open, those of the caller, or those that have ended.",
		Note: "A page may be empty and have a next one.", Request: RoomPacketsRequest{}, Reply: RoomPacketsReply{},
		Group: "packets", AsUser: ScopeRead, Right: members, Errors: outside, Cost: 5,
	},
	{
		Name: "wallet", Does: "Returns the user's balance and lists the transfers.", Request: WalletRequest{}, Reply: WalletReply{},
		Group: "wallet", AsUser: ScopeRead, Right: anyone, Cost: 2,
	},
	{
		Name: "set_own_limits", Does: "Limits what the user sends and receives in packets a day. A lower limit holds at once, a higher one after a day.",
		Request: SetOwnLimitsRequest{}, Reply: SetOwnLimitsReply{},
		Group: "wallet", AsUser: ScopeMoney, Right: anyone, Cost: 5,
	},
}

// Endpoint is a request that exists over HTTP only. If Open, Guest and User are false, it requires an administrator's token.
type Endpoint struct {
	Method

	Verb string // GET, POST
	Path string
	Open bool // no token is required

	Guest bool // a guest's token is required
	User  bool // a token of any user is required
}

// Endpoints holds the endpoints for the host's backend, which require the scope of administrators, those of guests, the
// previews of invite links and public rooms, and the one for pictures of any user.
var Endpoints = []Endpoint{
	{
		Method: Method{
			Name: "credit", Group: "admin", Does: "Credits a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused},
		},
		Verb: "POST", Path: "/v1/admin/credit",
	},
	{
		Method: Method{
			Name: "debit", Group: "admin", Does: "Debits a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeKeyReused, CodeInsufficientBalance, CodeWalletFrozen},
		},
		Verb: "POST", Path: "/v1/admin/debit",
	},
	{
		Method: Method{
			Name: "disconnect", Group: "admin", Does: "Closes a user's sockets and revokes the user's tokens.", Request: DisconnectRequest{}, Reply: DisconnectReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/admin/disconnect",
	},
	{
		Method: Method{
			Name: "audit", Group: "admin", Does: "Returns the report of the last audit of the books.", Reply: AuditReply{}, Errors: []Code{CodeForbidden, CodeNotFound},
		},
		Verb: "GET", Path: "/v1/admin/audit",
	},
	{
		Method: Method{
			Name: "start_audit", Group: "admin", Does: "Makes an instance audit the books soon.", Request: StartAuditRequest{}, Reply: StartAuditReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/admin/audit",
	},
	{
		Method: Method{
			Name: "heads", Group: "admin", Does: "Returns the newest link of each hash chain, to be kept elsewhere.", Reply: HeadsReply{}, Errors: []Code{CodeForbidden},
		},
		Verb: "GET", Path: "/v1/admin/heads",
	},
	{
		Method: Method{Name: "stats", Group: "admin", Does: "Returns what this instance has done since it started.", Reply: StatsReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "GET", Path: "/v1/admin/stats",
	},
	{
		Method: Method{
			Name: "preview_link", Group: "links", Does: "Returns what an invite link leads to, and whose packet it was shared for.", Request: PreviewLinkRequest{}, Reply: PreviewLinkReply{},
			Errors: []Code{CodeForbidden, CodeNotFound},
		},
		Verb: "POST", Path: "/v1/links/preview", Open: true,
	},
	{
		Method: Method{
			Name: "preview_room", Group: "rooms", Does: "Returns the name of a public room, if guests are enabled.", Request: PreviewRoomRequest{}, Reply: PreviewRoomReply{},
			Errors: []Code{CodeForbidden, CodeNotFound},
		},
		Verb: "POST", Path: "/v1/rooms/preview", Open: true,
	},
	{
		Method: Method{
			Name: "guests", Group: "guests", Does: "Creates a guest, if guests are enabled.", Request: GuestRequest{}, Reply: GuestReply{},
			Errors: []Code{CodeForbidden, CodeNotFound, CodeTooLong},
		},
		Verb: "POST", Path: "/v1/guests", Open: true,
	},
	{
		Method: Method{Name: "renew", Group: "guests", Does: "Returns a newer token of the guest.", Reply: GuestReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "POST", Path: "/v1/guests/renew", Guest: true,
	},
	{
		Method: Method{
			Name: "sign_out", Group: "guests", Does: "Revokes all tokens of the guest and closes the guest's sockets.", Reply: DisconnectReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/guests/sign_out", Guest: true,
	},
	{
		Method: Method{
			Name: "profile", Group: "guests", Does: "Changes the guest's name and avatar.", Request: ProfileRequest{}, Reply: ProfileReply{},
			Errors: []Code{CodeForbidden, CodeTooLong},
		},
		Verb: "POST", Path: "/v1/guests/profile", Guest: true,
	},
	{
		Method: Method{
			Name: "picture", Group: "picture", Does: "Makes a picture the user's avatar, or removes the user's pictures.", Request: PictureRequest{}, Reply: PictureReply{},
			Errors: []Code{CodeForbidden, CodeNotFound, CodeTooLong},
		},
		Verb: "POST", Path: "/v1/picture", User: true,
	},
	{
		Method: Method{
			Name: "device_code", Group: "guests", Does: "Returns a code with which the guest may sign in once on another device.", Reply: DeviceCodeReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/guests/device_code", Guest: true,
	},
	{
		Method: Method{
			Name: "redeem", Group: "guests", Does: "Signs a guest in on this device by a code.", Request: RedeemRequest{}, Reply: GuestReply{},
			Errors: []Code{CodeForbidden, CodeNotFound},
		},
		Verb: "POST", Path: "/v1/guests/redeem", Open: true,
	},
}

// Kind is a kind of entries.
type Kind struct {
	Kind  string
	Body  any    // a zero value of the type of the body
	Means string // what the documents say of the body
}

// Kinds holds the kinds of entries.
var Kinds = []Kind{
	{"text", TextBody{}, "only in `history` and `mentions` it may have `edited_at` and `reactions`, the number of users by emoji, or be {recalled: true}, and {recalled: true, retired: true} if it is older than the room keeps texts"},
	{"packet", PacketBody{}, "it has the fields of the Packet itself; only in `history` it may have `reactions`, the number of users by emoji"},
	{"packet_done", PacketDoneBody{}, "`reason` is drained, expired or cancelled; the State is without `mine`"},
	{"member", MemberBody{}, "`change` is invited, kicked, banned, role, muted or left_private. The host adds or removes many at once: `change` is added or removed, `users` has the first 50 of them, beginning with `user`, and `count` says how many they are"},
	{"edit", EditBody{}, "{target, recalled: true} after a recall, or when the text is retired"},
	{"recall", RecallBody{}, ""},
	{"react", ReactBody{}, "`count` is the number of this emoji on the text or packet now"},
	{"room", RoomBody{}, "what is different from now on; a removed announcement is `\"\"`"},
}

// Push is a push without a seq.
type Push struct {
	Name  string
	Event string // the name of the event in the SDKs; "": they have none
	Data  any    // a zero value of the type of its data
}

// Pushes returns the pushes without a seq: the fields of Message.
func Pushes() []Push {
	var all []Push
	for f := range reflect.TypeFor[Message]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, Push{name, f.Tag.Get("event"), reflect.Zero(f.Type.Elem()).Interface()})
	}
	return all
}

// Codes returns all error codes, in ascending order.
func Codes() []Code { return slices.Sorted(maps.Keys(codes)) }

// Closes returns all close codes with their reasons, in ascending order.
func Closes() []Close {
	var all []Close
	for _, code := range slices.Sorted(maps.Keys(closes)) {
		all = append(all, CloseFor(code))
	}
	return all
}
