package hostapi

import "hongbao/web/wire"

var actExportOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_acts", Does: "Returns what the holders of keys and administrators have done, oldest first, from a cursor on. Acts of the last 15 s are not shown yet. With newest it returns the newest first, and at once.",
			Request: GetActsRequest{}, Reply: ActsReply{},
		},
		Verb: "GET", Path: "/v1/server/acts", Scope: Admin, Example: GetActsRequest{Key: "all", Limit: 3},
	},
}

// GetActsRequest is the request of get_acts.
type GetActsRequest struct {
	After  string `json:"after,omitempty"`         // the next of the page before; "": from the first act on
	Newest bool   `json:"newest,omitempty"`        // the newest acts first; its pages have cursors of their own
	Key    string `json:"key,omitempty"`           // only acts of API keys with this name
	User   string `json:"user,omitempty"`          // only acts that this administrator did, or whose stored request has this id in quotes
	Limit  int    `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// ActsReply is the reply of get_acts.
type ActsReply struct {
	Acts []Act  `json:"acts"`
	Next string `json:"next"` // the cursor after this page
	More bool   `json:"more"` // there may be more acts now: read on, also after an empty page
}

// Act is a request that may change something. It was stored before it was carried out, and may have been refused after that.
type Act struct {
	ID        string `json:"id"`
	At        int64  `json:"at"`
	Instance  string `json:"instance"`
	Actor     string `json:"actor"`            // "key/" and the name of an API key, or the id of an administrator
	Person    string `json:"person,omitempty"` // the user of the console that has used the key
	Client    string `json:"client"`           // address
	Operation string `json:"operation"`
	Request   string `json:"request"` // JSON, cut to 2000 bytes; of a key, without texts of users
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
}
