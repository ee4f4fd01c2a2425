package wire

// Endpoint is what is there over HTTP alone.
type Endpoint struct {
	Method

	Verb string // GET, POST
	Path string
	Open bool // no token is asked for
}

// Endpoints are those of the host's service, which needs the scope admin, and the one for guests.
var Endpoints = []Endpoint{
	{
		Method: Method{
			Name: "credit", Does: "Puts money into a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused},
		},
		Verb: "POST", Path: "/v1/admin/credit",
	},
	{
		Method: Method{
			Name: "debit", Does: "Takes money out of a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeKeyReused, CodeInsufficientBalance},
		},
		Verb: "POST", Path: "/v1/admin/debit",
	},
	{
		Method: Method{
			Name: "disconnect", Does: "Closes a user's sockets and revokes the tokens that he has.", Request: DisconnectRequest{}, Reply: DisconnectReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/admin/disconnect",
	},
	{
		Method: Method{Name: "audit", Does: "Checks all the books.", Reply: AuditReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "GET", Path: "/v1/admin/audit",
	},
	{
		Method: Method{Name: "stats", Does: "Tells what this instance has been doing.", Reply: StatsReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "GET", Path: "/v1/admin/stats",
	},
	{
		Method: Method{
			Name: "guests", Does: "Makes a guest, where guests are on.", Request: GuestRequest{}, Reply: GuestReply{},
			Errors: []Code{CodeNotFound, CodeTooLong},
		},
		Verb: "POST", Path: "/v1/guests", Open: true,
	},
}
