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

// ReportsRequest is the request of reports.
type ReportsRequest struct {
	Side  string `json:"side" enum:"reporter,reported" doc:"'reporter': reports that the user has made; 'reported': those about the user after which the host did something"`
	Next  string `json:"next,omitempty" doc:"the 'next' of the page before"`
	Limit int    `json:"limit,omitempty" min:"1" doc:"at most 100, default 50"`
}

// ReportsReply is the reply of reports.
type ReportsReply struct {
	Reports []OwnReport `json:"reports"`
	Next    string      `json:"next,omitempty" doc:"missing: it is the last page"`
}

// OwnReport is a report as one side may see it.
type OwnReport struct {
	Report string `json:"report"`
	Side   string `json:"side" enum:"reporter,reported"`
	Kind   string `json:"kind" enum:"message,packet,person"`
	Room   string `json:"room,omitempty"`
	Seq    int64  `json:"seq,omitempty"`
	Packet string `json:"packet,omitempty"`
	About  string `json:"about,omitempty"`                                               // the reported user; for the reporter only
	Reason string `json:"reason,omitempty" enum:"spam,scam,abuse,sexual,violence,other"` // for the reporter only
	At     int64  `json:"at"`
	State  string `json:"state" enum:"open,resolved,appealed"` // appealed: the host decides again

	Outcome    string `json:"outcome,omitempty" enum:"acted,dismissed"`
	Cause      string `json:"cause,omitempty" enum:"spam,scam,abuse,sexual,violence,no_breach,no_evidence,other"`
	ResolvedAt int64  `json:"resolved_at,omitempty"`
	MayAppeal  bool   `json:"may_appeal,omitempty"`
	Appeal     string `json:"appeal,omitempty"` // what the user has said against the decision
}

// AppealRequest is the request of appeal.
type AppealRequest struct {
	Report string `json:"report" doc:"its id, from 'reports'"`
	Text   string `json:"text" doc:"for the host, 1 to 500 characters"`
}

// AppealReply is the reply of appeal.
type AppealReply struct {
	Report OwnReport `json:"report"`
}
