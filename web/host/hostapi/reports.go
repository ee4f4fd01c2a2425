package hostapi

import "hongbao/web/wire"

var reportOperations = []Operation{
	{
		Method: wire.Method{Name: "list_reports", Does: "Lists what users have reported, the oldest first.", Request: ListReportsRequest{}, Reply: ListReportsReply{}},
		Verb:   "GET", Path: "/v1/server/reports", Scope: Moderate, Example: ListReportsRequest{State: "open", Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "get_report", Does: "Returns a report.", Request: GetReportRequest{}, Reply: ReportReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/reports/{report}", Scope: Moderate, Example: GetReportRequest{Report: "report-1"},
	},
	{
		Method: wire.Method{
			Name: "resolve_report", Does: "Stores what the host has decided about a report, and tells the user that has reported and, if something was done, the reported one. After an appeal it decides again, for good. The same outcome, cause and note again change nothing.",
			Request: ResolveReportRequest{}, Reply: ReportReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict, wire.CodeTooLong},
		},
		Verb: "POST", Path: "/v1/server/reports/{report}/resolve", Scope: Moderate,
		Example: ResolveReportRequest{Report: "report-1", Outcome: "acted", Cause: "spam", Note: "muted for a day"},
	},
}

// Report is what a user has reported. It holds no copy of the entry: read that with get_history.
type Report struct {
	ID     string `json:"id"`
	Kind   string `json:"kind" enum:"message,packet,person"`
	By     string `json:"by"`    // the user that reports
	About  string `json:"about"` // the user that is reported, or that has sent the entry
	Room   string `json:"room,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // of the entry
	Packet string `json:"packet,omitempty"`
	Reason string `json:"reason" enum:"spam,scam,abuse,sexual,violence,other"`
	Text   string `json:"text,omitempty"`
	At     int64  `json:"at"`
	State  string `json:"state" enum:"open,resolved,appealed"`

	Outcome    string `json:"outcome,omitempty" enum:"acted,dismissed"`
	Cause      string `json:"cause,omitempty" enum:"spam,scam,abuse,sexual,violence,no_breach,no_evidence,other"`
	Note       string `json:"note,omitempty"`
	ResolvedBy string `json:"resolved_by,omitempty"` // key/ and the name of the API key
	ResolvedAt int64  `json:"resolved_at,omitempty"`

	AppealBy   string `json:"appeal_by,omitempty"` // the user that has appealed
	Appeal     string `json:"appeal,omitempty"`    // what the user says
	AppealedAt int64  `json:"appealed_at,omitempty"`
}

// ListReportsRequest is the request of list_reports.
type ListReportsRequest struct {
	State string `json:"state,omitempty" enum:"open,resolved,appealed"` // "": all
	After string `json:"after,omitempty"`                               // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"`                       // at most 100; missing: 50
}

// ListReportsReply is the reply of list_reports.
type ListReportsReply struct {
	Reports []Report `json:"reports"`
	Next    string   `json:"next,omitempty"` // "": it is the last page
}

// GetReportRequest is the request of get_report.
type GetReportRequest struct {
	Report string `json:"report"`
}

// ResolveReportRequest is the request of resolve_report.
type ResolveReportRequest struct {
	Report  string `json:"report"`
	Outcome string `json:"outcome" enum:"acted,dismissed"`
	Cause   string `json:"cause" enum:"spam,scam,abuse,sexual,violence,no_breach,no_evidence,other"` // told to both sides; no_breach and no_evidence are of dismissed, other of both, all else of acted
	Note    string `json:"note,omitempty"`                                                           // for the host only, at most 500 characters
	Appeal  bool   `json:"appeal,omitempty"`                                                         // true: decide an appeal, which nothing else does
}

// ReportReply is a reply that holds one report.
type ReportReply struct {
	Report Report `json:"report"`
}

// ReportDetails are the details of the events about reports.
type ReportDetails struct {
	Report  string `json:"report"`
	Kind    string `json:"kind" enum:"message,packet,person"`
	About   string `json:"about"`
	Seq     int64  `json:"seq,omitempty"`
	Packet  string `json:"packet,omitempty"`
	Reason  string `json:"reason" enum:"spam,scam,abuse,sexual,violence,other"`
	Outcome string `json:"outcome,omitempty" enum:"acted,dismissed"` // of report.resolved and report.appealed
	Cause   string `json:"cause,omitempty" enum:"spam,scam,abuse,sexual,violence,no_breach,no_evidence,other"`
	Appeal  string `json:"appeal_by,omitempty"` // the user that has appealed
}
