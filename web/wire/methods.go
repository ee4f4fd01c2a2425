package wire

import "slices"

// Method is one command, as the specifications tell of it and the tests go through it.
type Method struct {
	Name    string
	Does    string // for a person
	Request any    // a zero value of its type; nil: there is no body
	Reply   any
	Errors  []Code // that it may answer with besides Always
	Rate    string // which of its user's rates it counts for, if any; see Limits in PROTOCOL.md
}

// Codes that every command may answer with, and those that only come over HTTP: there the token and the name of the
// command are part of each request.
var (
	Always   = []Code{CodeInternal, CodeBadRequest, CodeRateLimited, CodeUnavailable}
	OverHTTP = []Code{CodeUnauthorized, CodeUnknownCommand, CodeTokenExpired}
)

// What a command answers whose asker is not in the room.
var (
	outside = []Code{CodeNotFound, CodeNotMember, CodeBanned}
	writing = slices.Concat(outside, []Code{CodeMuted})
	govern  = slices.Concat(outside, []Code{CodeForbidden})
)

// Methods are the commands of members, by socket and by POST /v1/commands/{method}.
var Methods = []Method{
	{
		Name: "create_room", Does: "Makes a room with its maker as the owner.", Request: CreateRoomRequest{}, Reply: CreateRoomReply{},
		Errors: []Code{CodeNotFound, CodeTooLong, CodeLimitExceeded, CodeKeyReused},
	},
	{
		Name: "direct", Does: "Gives the room of two people; whoever of them is not in it is put in.", Request: DirectRequest{}, Reply: DirectReply{},
		Errors: []Code{CodeNotFound, CodeLimitExceeded},
	},
	{
		Name: "join", Does: "Comes into a public room.", Request: JoinRequest{}, Reply: JoinReply{},
		Errors: []Code{CodeForbidden, CodeNotFound, CodeBanned, CodeLimitExceeded},
	},
	{
		Name: "leave", Does: "Goes out of a room.", Request: LeaveRequest{}, Reply: LeaveReply{},
		Errors: []Code{CodeNotFound, CodeNotMember},
	},
	{
		Name: "find_rooms", Does: "Lists public rooms, newest first.", Request: FindRoomsRequest{}, Reply: FindRoomsReply{},
		Errors: []Code{CodeTooLong},
	},
	{
		Name: "invite", Does: "Puts users into the room: all of them or none.", Request: InviteRequest{}, Reply: InviteReply{},
		Errors: slices.Concat(govern, []Code{CodeLimitExceeded}),
	},
	{
		Name: "kick", Does: "Puts a user out of the room; with ban he cannot come back.", Request: KickRequest{}, Reply: KickReply{},
		Errors: govern,
	},
	{
		Name: "unban", Does: "Lets a banned user come back.", Request: UnbanRequest{}, Reply: UnbanReply{},
		Errors: govern,
	},
	{
		Name: "set_role", Does: "Gives a member another role; owner hands the room over.", Request: SetRoleRequest{}, Reply: SetRoleReply{},
		Errors: govern,
	},
	{
		Name: "mute", Does: "Keeps a user from writing for some seconds; 0 lifts it.", Request: MuteRequest{}, Reply: MuteReply{},
		Errors: govern,
	},
	{
		Name: "update_room", Does: "Changes the room's name or announcement.", Request: UpdateRoomRequest{}, Reply: UpdateRoomReply{},
		Errors: slices.Concat(govern, []Code{CodeTooLong}),
	},
	{
		Name: "delete_room", Does: "Puts everybody out of the room for good.", Request: DeleteRoomRequest{}, Reply: DeleteRoomReply{},
		Errors: govern,
	},
	{
		Name: "members", Does: "Lists who is in the room: the owner, admins, then the others.", Request: MembersRequest{}, Reply: MembersReply{},
		Errors: outside,
	},
	{
		Name: "send", Does: "Sends a text, an object of the host, or both.", Request: SendRequest{}, Reply: SendReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeKeyReused}), Rate: "send",
	},
	{
		Name: "edit", Does: "Gives one's own text another wording, for two minutes.", Request: EditRequest{}, Reply: SeqReply{},
		Errors: slices.Concat(writing, []Code{CodeForbidden, CodeTooLong, CodeConflict, CodeEditWindowOver}), Rate: "send",
	},
	{
		Name: "recall", Does: "Takes back a text, which is then gone from storage.", Request: RecallRequest{}, Reply: SeqReply{},
		Errors: slices.Concat(govern, []Code{CodeEditWindowOver}),
	},
	{
		Name: "react", Does: "Puts an emoji on a text, or takes it off.", Request: ReactRequest{}, Reply: ReactReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeConflict}), Rate: "send",
	},
	{
		Name: "history", Does: "Reads entries of the room, ascending; texts come as they are now.", Request: HistoryRequest{}, Reply: HistoryReply{},
		Errors: outside,
	},
	{
		Name: "read", Does: "Says how far the user has read; that never goes back.", Request: ReadRequest{}, Reply: ReadReply{},
		Errors: outside,
	},
	{
		Name: "presence", Does: "Tells how many of the room's members are online, and in small rooms who.", Request: PresenceRequest{}, Reply: PresenceReply{},
		Errors: outside,
	},
	{
		Name: "send_packet", Does: "Sends money into the room, to be grabbed in shares.", Request: SendPacketRequest{}, Reply: SendPacketReply{},
		Errors: slices.Concat(writing, []Code{CodeTooLong, CodeLimitExceeded, CodeKeyReused, CodeConflict, CodeInsufficientBalance}), Rate: "send_packet",
	},
	{
		Name: "grab", Does: "Grabs a share of a packet. What comes of it is an outcome, not an error.", Request: GrabRequest{}, Reply: GrabReply{},
		Errors: []Code{CodeNotFound, CodeNotMember, CodeNotRecipient, CodeWrongPassphrase}, Rate: "grab",
	},
	{
		Name: "packet", Does: "Shows a packet, who has shares of it, and its proof once it is done.", Request: PacketRequest{}, Reply: PacketReply{},
		Errors: outside,
	},
	{
		Name: "cancel_packet", Does: "Takes one's own packet back before the first grab.", Request: CancelPacketRequest{}, Reply: CancelPacketReply{},
		Errors: slices.Concat(govern, []Code{CodePacketFinished}),
	},
	{Name: "packets", Does: "Lists packets that the user has sent or had shares of.", Request: PacketsRequest{}, Reply: PacketsReply{}},
	{Name: "wallet", Does: "Tells the user's balance and lists what moved it.", Request: WalletRequest{}, Reply: WalletReply{}},
}
