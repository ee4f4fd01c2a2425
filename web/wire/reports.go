package wire

// ReportRequest is the request of report. It names an entry by room and seq, or a user.
type ReportRequest struct {
	Key    string `json:"key" doc:"known among the caller's reports: the same request again returns the same report"`
	Room   string `json:"room,omitempty" doc:"the text or packet"`
	Seq    int64  `json:"seq,omitempty" min:"1" doc:"the text or packet"`
	User   string `json:"user,omitempty" doc:"instead of 'seq': the user. With 'room', a user that is or was in the room; otherwise one that is in a room together with the caller"`
	Reason string `json:"reason" enum:"spam,scam,abuse,sexual,violence,other" doc:"'spam', 'scam', 'abuse', 'sexual', 'violence' or 'other'"`
	Text   string `json:"text,omitempty" doc:"for the host, at most 500 characters"`
}

// ReportReply is the reply of report.
type ReportReply struct {
	Report string `json:"report"`
	Dup    bool   `json:"dup"`
}
