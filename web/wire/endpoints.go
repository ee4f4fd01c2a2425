package wire

// Endpoint is a request that exists over HTTP only.
type Endpoint struct {
	Method

	Verb string // GET, POST
	Path string
	Open bool // no token is required
}

// Endpoints holds the endpoints for the host's backend, which require the scope admin, and the one that creates guests.
var Endpoints = []Endpoint{
	{
		Method: Method{
			Name: "credit", Does: "Credits a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeLimitExceeded, CodeKeyReused},
		},
		Verb: "POST", Path: "/v1/admin/credit",
	},
	{
		Method: Method{
			Name: "debit", Does: "Debits a user's wallet.", Request: AdjustRequest{}, Reply: AdjustReply{},
			Errors: []Code{CodeForbidden, CodeTooLong, CodeKeyReused, CodeInsufficientBalance},
		},
		Verb: "POST", Path: "/v1/admin/debit",
	},
	{
		Method: Method{
			Name: "disconnect", Does: "Closes a user's sockets and revokes the user's tokens.", Request: DisconnectRequest{}, Reply: DisconnectReply{},
			Errors: []Code{CodeForbidden},
		},
		Verb: "POST", Path: "/v1/admin/disconnect",
	},
	{
		Method: Method{Name: "audit", Does: "Checks all the books.", Reply: AuditReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "GET", Path: "/v1/admin/audit",
	},
	{
		Method: Method{
			Name: "heads", Does: "Returns the newest link of each hash chain, to be kept elsewhere.", Reply: HeadsReply{}, Errors: []Code{CodeForbidden},
		},
		Verb: "GET", Path: "/v1/admin/heads",
	},
	{
		Method: Method{Name: "stats", Does: "Returns what this instance has done since it started.", Reply: StatsReply{}, Errors: []Code{CodeForbidden}},
		Verb:   "GET", Path: "/v1/admin/stats",
	},
	{
		Method: Method{
			Name: "guests", Does: "Creates a guest, if guests are enabled.", Request: GuestRequest{}, Reply: GuestReply{},
			Errors: []Code{CodeNotFound, CodeTooLong},
		},
		Verb: "POST", Path: "/v1/guests", Open: true,
	},
}
