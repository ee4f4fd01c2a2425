package hostapi

import "hongbao/web/wire"

var privacyOperations = []Operation{
	{
		Method: wire.Method{
			Name: "erase_user", Does: "Erases a user for ever: the user can sign in no more and has no name when the request is answered. Names, texts and files in rooms go step by step after that. A repeated request may ask for the texts, too.",
			Request: EraseUserRequest{}, Reply: ErasureReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/erase", Scope: Privacy, Reasoned: true, Example: EraseUserRequest{User: "gone", Texts: EraseTexts},
	},
	{
		Method: wire.Method{
			Name: "get_erasure", Does: "Says how far the erasure of a user has come.", Request: GetErasureRequest{}, Reply: ErasureReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}/erase", Scope: Privacy, Example: GetErasureRequest{User: "gone"},
	},
	{
		Method: wire.Method{
			Name: "put_legal_hold", Does: "Sets a legal hold: what the user or the room has written stays, and erasures are refused or stop. A hold that is there already stays as it is.",
			Request: LegalHoldRequest{}, Reply: LegalHoldReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "PUT", Path: "/v1/server/legal_holds/{kind}/{id}", Scope: Privacy, Reasoned: true, Example: LegalHoldRequest{Kind: "user", ID: "ann"},
	},
	{
		Method: wire.Method{
			Name: "drop_legal_hold", Does: "Ends a legal hold, if there is one. Erasures that it has stopped go on within a minute.",
			Request: LegalHoldRequest{}, Reply: DropLegalHoldReply{},
		},
		Verb: "DELETE", Path: "/v1/server/legal_holds/{kind}/{id}", Scope: Privacy, Reasoned: true, Example: LegalHoldRequest{Kind: "user", ID: "ann"},
	},
	{
		Method: wire.Method{
			Name: "list_legal_holds", Does: "Lists legal holds, by kind and id.", Request: ListLegalHoldsRequest{}, Reply: ListLegalHoldsReply{},
		},
		Verb: "GET", Path: "/v1/server/legal_holds", Scope: Privacy, Example: ListLegalHoldsRequest{Kind: "user", Limit: 100},
	},
	{
		Method: wire.Method{
			Name: "get_user_entries", Does: "Reads all that a user has sent, in its present state, by room and seq: texts, edits, packets, reactions. A page may have fewer entries than the limit, or none, and have a next.",
			Request: UserEntriesRequest{}, Reply: UserEntriesReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}/entries", Scope: Privacy, Example: UserEntriesRequest{User: "ann", Limit: 100},
	},
	{
		Method: wire.Method{
			Name: "get_retention", Does: "Says for how many days a room keeps its texts, and which texts are retired.",
			Request: GetRetentionRequest{}, Reply: RetentionReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/rooms/{room}/retention", Scope: Read, Example: GetRetentionRequest{Room: "r-1"},
	},
	{
		Method: wire.Method{
			Name: "set_retention", Does: "Sets for how many days a room keeps its texts. Older texts and their files are removed within some hours. Retired texts do not come back.",
			Request: SetRetentionRequest{}, Reply: RetentionReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "PUT", Path: "/v1/server/rooms/{room}/retention", Scope: Privacy, Reasoned: true, Example: SetRetentionRequest{Room: "r-1", Days: 30},
	},
}

// The values of EraseUserRequest.Texts. With EraseTexts, texts, edits, reactions and files go, too.
const (
	KeepTexts  = "keep"
	EraseTexts = "erase"
)

// EraseUserRequest is the request of erase_user.
type EraseUserRequest struct {
	User  string `json:"user"`
	Texts string `json:"texts" enum:"keep,erase"` // keep: only names, and what is not in rooms; erase: also texts, edits, reactions and files
}

// GetErasureRequest is the request of get_erasure.
type GetErasureRequest struct {
	User string `json:"user"`
}

// Erasure is the erasure of a user.
type Erasure struct {
	User      string `json:"user"`
	Texts     string `json:"texts" enum:"keep,erase"`
	State     string `json:"state" enum:"running,held,done"` // held: a legal hold has stopped it
	Waits     string `json:"waits,omitempty"`                // for what it waits: hold, packets, files or commands; missing: for nothing
	AskedAt   int64  `json:"asked_at"`
	DoneAt    int64  `json:"done_at,omitempty"`    // missing: it is under way
	Entries   int64  `json:"entries"`              // texts, packets and other entries of the user that were changed so far
	RoomsLeft int    `json:"rooms_left,omitempty"` // of the rooms that the user has ever been in
}

// ErasureReply is the reply of erase_user and get_erasure.
type ErasureReply struct {
	Erasure Erasure `json:"erasure"`
}

// LegalHold is a legal hold.
type LegalHold struct {
	Kind   string `json:"kind" enum:"user,room"`
	ID     string `json:"id"` // of the user or the room
	At     int64  `json:"at"`
	Actor  string `json:"actor"` // "key/" and the name of the API key that has set it
	Reason string `json:"reason"`
}

// LegalHoldRequest is the request of put_legal_hold and drop_legal_hold.
type LegalHoldRequest struct {
	Kind string `json:"kind" enum:"user,room"`
	ID   string `json:"id"` // of the user or the room
}

// LegalHoldReply is the reply of put_legal_hold.
type LegalHoldReply struct {
	Hold LegalHold `json:"hold"`
}

// DropLegalHoldReply is the reply of drop_legal_hold.
type DropLegalHoldReply struct{}

// ListLegalHoldsRequest is the request of list_legal_holds.
type ListLegalHoldsRequest struct {
	Kind  string `json:"kind,omitempty" enum:"user,room"` // missing: both
	Next  string `json:"next,omitempty"`                  // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"`         // at most 1000; missing: 100
}

// ListLegalHoldsReply is the reply of list_legal_holds.
type ListLegalHoldsReply struct {
	Holds []LegalHold `json:"holds"`
	Next  string      `json:"next,omitempty"` // missing: it is the last page
}

// GetRetentionRequest is the request of get_retention.
type GetRetentionRequest struct {
	Room string `json:"room"`
}

// SetRetentionRequest is the request of set_retention.
type SetRetentionRequest struct {
	Room string `json:"room"`
	Days int    `json:"days" min:"0"` // at most 36500; 0: as rooms of its kind, which HONGBAO_TEXTS_KEEP says
}

// Retention says for how many days a room keeps its texts.
type Retention struct {
	Days    int   `json:"days"`    // what was set for the room; 0: nothing
	Keeps   int   `json:"keeps"`   // what holds; 0: for ever
	Through int64 `json:"through"` // texts up to this seq are retired
	Held    bool  `json:"held"`    // a legal hold of the room, or of a user that has been in it, stops it
}

// RetentionReply is the reply of get_retention and set_retention.
type RetentionReply struct {
	Retention Retention `json:"retention"`
}

// UserEntriesRequest is the request of get_user_entries.
type UserEntriesRequest struct {
	User  string `json:"user"`
	Next  string `json:"next,omitempty"`          // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"` // at most 200; missing: 100
}

// UserEntriesReply is the reply of get_user_entries.
type UserEntriesReply struct {
	Entries []wire.Entry `json:"entries"`
	Next    string       `json:"next,omitempty"` // missing: it is the last page
}
