package wire

import "slices"

// Method describes one command, for the specifications and the tests.
type Method struct {
	Name    string
	Does    string // what the command does, for the documents
	Request any    // a zero value of the request type; nil: no body
	Reply   any
	Errors  []Code // errors that the command may return, besides those in Always
	Rate    string // name of the rate limit that the command counts against; "": none; see web/docs/protocol/limits.md
}

// Always holds the codes that every command may return. OverHTTP holds those that exist over HTTP only, where each
// request has a token and a command name of its own.
var (
	Always   = []Code{CodeInternal, CodeBadRequest, CodeRateLimited, CodeUnavailable}
	OverHTTP = []Code{CodeUnauthorized, CodeUnknownCommand, CodeTokenExpired}
)

// Codes for a user that is not in the room.
var (
	outside = []Code{CodeNotFound, CodeNotMember, CodeBanned}
	writing = slices.Concat(outside, []Code{CodeMuted})
	govern  = slices.Concat(outside, []Code{CodeForbidden})
)

// Methods holds the commands of members, by socket and by POST /v1/commands/{method}.
var Methods = []Method{
	{
		Name: "create_room", Does: "Creates a room; the user becomes its owner.", Request: CreateRoomRequest{}, Reply: CreateRoomReply{},
		Errors: []Code{CodeNotFound, CodeTooLong, CodeLimitExceeded, CodeKeyReused},
	},
	{
		Name: "direct", Does: "Returns the direct room of two users, and adds those that are not in it.", Request: DirectRequest{}, Reply: DirectReply{},
		Errors: []Code{CodeNotFound, CodeLimitExceeded},
	},
	{
		Name: "join", Does: "Joins a public room.", Request: JoinRequest{}, Reply: JoinReply{},
		Errors: []Code{CodeForbidden, CodeNotFound, CodeBanned, CodeLimitExceeded},
	},
	{
		Name: "leave", Does: "Leaves a room.", Request: LeaveRequest{}, Reply: LeaveReply{},
		Errors: []Code{CodeNotFound, CodeNotMember},
	},
	{
		Name: "find_rooms", Does: "Lists public rooms, newest first.", Request: FindRoomsRequest{}, Reply: FindRoomsReply{},
		Errors: []Code{CodeTooLong},
	},
	{
		Name: "invite", Does: "Adds users to the room: all of them or none.", Request: InviteRequest{}, Reply: InviteReply{},
		Errors: slices.Concat(govern, []Code{CodeLimitExceeded}),
	},
	{
		Name: "kick", Does: "Removes a user from the room; after a ban the user cannot come back.", Request: KickRequest{}, Reply: KickReply{},
		Errors: govern,
	},
	{
		Name: "unban", Does: "Allows a banned user to come back.", Request: UnbanRequest{}, Reply: UnbanReply{},
		Errors: govern,
	},
	{
		Name: "set_role", Does: "Changes a member's role; the role owner hands the room over.", Request: SetRoleRequest{}, Reply: SetRoleReply{},
		Errors: govern,
	},
	{
		Name: "mute", Does: "Forbids a user to send for some seconds; 0 ends the mute.", Request: MuteRequest{}, Reply: MuteReply{},
		Errors: govern,
	},
	{
		Name: "update_room", Does: "Changes the room's name or announcement.", Request: UpdateRoomRequest{}, Reply: UpdateRoomReply{},
		Errors: slices.Concat(govern, []Code{CodeTooLong}),
	},
	{
		Name: "delete_room", Does: "Deletes the room for good. Its open packets are closed: shares granted so far are paid, the rest is refunded.",
		Request: DeleteRoomRequest{}, Reply: DeleteRoomReply{},
		Errors: govern,
	},
	{
		Name: "members", Does: "Lists the members of the room: the owner, admins, then the others.", Request: MembersRequest{}, Reply: MembersReply{},
		Errors: outside,
	},
	{
		Name: "send", Does: "Sends a text, an object of the integrator, or both.", Request: SendRequest{}, Reply: SendReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeKeyReused}), Rate: "send",
	},
	{
		Name: "edit", Does: "Edits the user's own text, within two minutes.", Request: EditRequest{}, Reply: SeqReply{},
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeConflict, CodeEditWindowOver}), Rate: "send",
	},
	{
		Name: "recall", Does: "Recalls a text and removes it from storage.", Request: RecallRequest{}, Reply: SeqReply{},
		Errors: slices.Concat(govern, []Code{CodeEditWindowOver}),
	},
	{
		Name: "react", Does: "Puts an emoji on a text, or removes it.", Request: ReactRequest{}, Reply: ReactReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeConflict}), Rate: "send",
	},
	{
		Name: "history", Does: "Reads entries of the room, in ascending order; texts as they are now.", Request: HistoryRequest{}, Reply: HistoryReply{},
		Errors: outside,
	},
	{
		Name: "read", Does: "Stores how far the user has read; the position never moves back.", Request: ReadRequest{}, Reply: ReadReply{},
		Errors: outside,
	},
	{
		Name: "presence", Does: "Returns how many of the room's members are online, and in small rooms which.", Request: PresenceRequest{}, Reply: PresenceReply{},
		Errors: outside,
	},
	{
		Name: "send_packet", Does: "Sends money into the room, to be grabbed in shares.", Request: SendPacketRequest{}, Reply: SendPacketReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeKeyReused, CodeConflict, CodeInsufficientBalance}), Rate: "send_packet",
	},
	{
		Name: "grab", Does: "Grabs a share of a packet. The result is an outcome, not an error.", Request: GrabRequest{}, Reply: GrabReply{},
		Errors: []Code{CodeNotFound, CodeNotMember, CodeNotRecipient, CodeWrongPassphrase}, Rate: "grab",
	},
	{
		Name: "packet", Does: "Returns a packet, its claims, and its proof once it has ended.", Request: PacketRequest{}, Reply: PacketReply{},
		Errors: outside,
	},
	{
		Name: "cancel_packet", Does: "Cancels the user's own packet before the first grab.", Request: CancelPacketRequest{}, Reply: CancelPacketReply{},
		Errors: slices.Concat(govern, []Code{CodePacketFinished}),
	},
	{Name: "packets", Does: "Lists packets that the user has sent or has shares of.", Request: PacketsRequest{}, Reply: PacketsReply{}},
	{Name: "wallet", Does: "Returns the user's balance and lists the transfers.", Request: WalletRequest{}, Reply: WalletReply{}},
}
