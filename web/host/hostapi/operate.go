package hostapi

import "hongbao/web/wire"

var operateOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_overview", Does: "Returns how the installation is now: what needs a person, what waits, and figures of the instance that answers.",
			Reply: Overview{},
		},
		Verb: "GET", Path: "/v1/server/overview", Scope: Read,
	},
	{
		Method: wire.Method{Name: "get_charts", Does: "Returns a few figures of all instances for the last 24 hours, in steps of five minutes.", Reply: ChartsReply{}},
		Verb:   "GET", Path: "/v1/server/charts", Scope: Read,
	},
	{
		Method: wire.Method{Name: "get_audit", Does: "Returns the report of the last audit in the background.", Reply: wire.AuditReply{}, Errors: []wire.Code{wire.CodeNotFound}},
		Verb:   "GET", Path: "/v1/server/audit", Scope: Read,
	},
	{
		Method: wire.Method{
			Name: "start_audit", Does: "Asks for an audit in the background, which an instance begins within seconds.", Request: wire.StartAuditRequest{}, Reply: wire.StartAuditReply{},
		},
		Verb: "POST", Path: "/v1/server/audit", Scope: Admin, Example: wire.StartAuditRequest{Whole: true},
	},
	{
		Method: wire.Method{Name: "get_heads", Does: "Returns the newest link of each hash chain, to keep outside the database.", Reply: wire.HeadsReply{}},
		Verb:   "GET", Path: "/v1/server/heads", Scope: Read,
	},
}

// Problems are the words of Overview.Problems, the gravest first.
var Problems = []string{"database_down", "audit_differs", "quarantine", "outbox_old", "overdue", "bus_down", "draining"}

// Overview is the reply of get_overview.
type Overview struct {
	At       int64          `json:"at"`
	Problems []string       `json:"problems"`        // what needs a person now, of Problems
	Money    *OverviewMoney `json:"money,omitempty"` // missing: another instance has taken the sample of the last minute

	// Of the instance that answers, since its start.
	Stats     wire.StatsReply `json:"stats"`
	GrabP50US int64           `json:"grab_p50_us,omitempty"` // half of the grabs that won took at most so many microseconds; missing: none did
	GrabP99US int64           `json:"grab_p99_us,omitempty"` // 99 % of them did
}

// OverviewMoney is what waits in the books. Its counts stop at 10,000.
type OverviewMoney struct {
	Open        int   `json:"open"`    // open packets
	Escrow      int64 `json:"escrow"`  // money left in them
	Overdue     int   `json:"overdue"` // open packets whose deadline has passed
	Outbox      int   `json:"outbox"`  // shares that are granted and not settled yet; -1: unknown
	OutboxAgeMS int64 `json:"outbox_age_ms"`
	Quarantined int   `json:"quarantined"` // claims in quarantine
}

// ChartsReply is the reply of get_charts. Steps that no instance has stored are missing, and the last step is one that has ended.
type ChartsReply struct {
	From   int64        `json:"from"` // the first step that is kept
	StepS  int          `json:"step_s"`
	Points []ChartPoint `json:"points"`
}

// ChartPoint has the figures of a step, of all instances together.
type ChartPoint struct {
	At        int64  `json:"at"`                    // when the step began
	Instances int    `json:"instances"`             // whose figures are in it
	Sockets   int64  `json:"sockets"`               // open at its end
	Delivered int64  `json:"delivered"`             // pushes, counted once for each socket
	Won       int64  `json:"won"`                   // grabs that got a share
	Missed    int64  `json:"missed"`                // grabs that came too late
	Failed    int64  `json:"failed"`                // grabs that ended with an error
	GrabP99US int64  `json:"grab_p99_us,omitempty"` // 99 % of the grabs that won took at most so many microseconds, at the slowest instance; missing: none did
	Open      *int64 `json:"open,omitempty"`        // open packets at its end; missing: unknown. It stops at 10,000
	Escrow    *int64 `json:"escrow,omitempty"`      // money left in them
}
