package hostapi

// EventKind describes the events of a kind, for the documents.
type EventKind struct {
	Kind, Does string

	Room, User bool   // whether the data name a room and a user
	Entry      string // the kind of the entry that the data hold, or kinds with commas; "": none
	Claim      bool   // whether the data hold a claim
	Transfer   bool   // whether the data hold a transfer
	Details    any    // a zero value of the type of details; nil: none
	Sometimes  bool   // whether only some events of the kind have details
}

// EventKinds returns all kinds of events.
func EventKinds() []EventKind {
	return []EventKind{
		{Kind: "message.new", Does: "A text was sent.", Room: true, User: true, Entry: "text"},
		{Kind: "message.edited", Does: "A text was edited.", Room: true, User: true, Entry: "edit"},
		{Kind: "message.recalled", Does: "A text was recalled.", Room: true, User: true, Entry: "recall"},
		{Kind: "message.reaction", Does: "An emoji was put on a text or packet, or removed.", Room: true, User: true, Entry: "react"},
		{Kind: "packet.sent", Does: "A packet was sent.", Room: true, User: true, Entry: "packet"},
		{Kind: "packet.claimed", Does: "A share was grabbed and paid.", Room: true, User: true, Claim: true},
		{Kind: "packet.closed", Does: "A packet has ended.", Room: true, User: true, Entry: "packet_done"},
		{Kind: "transfer.credit", Does: "A wallet was credited. If the host has funded a packet, the details say so.", User: true, Transfer: true, Details: FundingDetails{}, Sometimes: true},
		{Kind: "transfer.debit", Does: "A wallet was debited.", User: true, Transfer: true},
		{Kind: "transfer.send", Does: "A user has paid a packet.", User: true, Transfer: true},
		{Kind: "transfer.claim", Does: "A user was paid a share.", User: true, Transfer: true},
		{Kind: "transfer.refund", Does: "A user got back what was left of a packet.", User: true, Transfer: true},
		{Kind: "transfer.reversed", Does: "A funding of the host is void: the host must put back what it has taken for it.", User: true, Details: FundingDetails{}},
		{Kind: "member.joined", Does: "A user entered a room.", Room: true, User: true},
		{Kind: "member.left", Does: "A user is no longer in a room.", Room: true, User: true},
		{Kind: "member.changed", Does: "A member was invited, kicked, banned, muted, or got another role.", Room: true, User: true, Entry: "member"},
		{Kind: "room.created", Does: "A room was created.", Room: true},
		{Kind: "room.updated", Does: "A room got another name, announcement or settings.", Room: true, User: true, Entry: "room"},
		{Kind: "room.deleted", Does: "A room was deleted.", Room: true},
		{Kind: "user.updated", Does: "A user has another name or avatar, or the host has changed its record of the user.", User: true},
		{Kind: "user.revoked", Does: "The tokens of a user were revoked.", User: true},
		{Kind: "user.suspended", Does: "The host has suspended a user.", User: true},
		{Kind: "user.reinstated", Does: "The host has ended the suspension of a user.", User: true},
		{Kind: "user.erased", Does: "The erasure of a user is done: your back end should erase its copies, too.", User: true},
		{
			Kind: "user.offline_message", Does: "There is news for a user without a socket: at most one such event for each user and minute.",
			Room: true, User: true, Entry: "text,packet", Details: OfflineDetails{},
		},
		{Kind: "report.new", Does: "A user has reported a text, a packet or another user.", Room: true, User: true, Details: ReportDetails{}},
		{Kind: "report.resolved", Does: "The host has resolved a report.", Room: true, User: true, Details: ReportDetails{}},
		{Kind: "report.appealed", Does: "A user asks the host to decide a report again.", Room: true, User: true, Details: ReportDetails{}},
	}
}
