package wire

// ReportRequest is the request of report. It names an entry by room and seq, or a user.
type ReportRequest struct {
	Key    string `json:"key"`
	Room   string `json:"room,omitempty"` // of the entry, or in which the user was met
	Seq    int64  `json:"seq,omitempty" min:"1"`
	User   string `json:"user,omitempty"`
	Reason string `json:"reason" enum:"spam,scam,abuse,sexual,violence,other"`
	Text   string `json:"text,omitempty"`
}

// ReportReply is the reply of report.
type ReportReply struct {
	Report string `json:"report"`
	Dup    bool   `json:"dup"`
}
