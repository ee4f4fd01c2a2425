package hostapi

import (
	"reflect"
	"slices"
	"strings"

	"hongbao/web/wire"
)

// Scope names operations that a key may call.
type Scope = wire.Scope

// The scopes. Each operation needs one of them. A key with the scope admin may call all operations.
const (
	Read     = wire.ScopeRead     // operations and commands that change nothing; reports need moderate, and acts need admin
	Support  = wire.ScopeSupport  // the operations of Read; those whose replies hold texts of users need a reason, and are acts
	Chat     = wire.ScopeChat     // changes of users, rooms, members, texts and consumers; replays; commands for a user that change something else
	Money    = wire.ScopeMoney    // changes of wallets and their limits; send_packet, grab and cancel_packet for a user
	Moderate = wire.ScopeModerate // suspensions and reports; recall, kick, unban and mute as the system
	Privacy  = wire.ScopePrivacy  // erasures, exports of users, and legal holds
	Admin    = wire.ScopeAdmin    // acts, and changes of the position of the webhook
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{Read, Support, Chat, Money, Moderate, Privacy, Admin} }

// Operation is one request of the server API.
type Operation struct {
	wire.Method // Name is unique; Request is nil only if the operation has no parameters of its own

	Verb     string // GET, POST, PUT, DELETE
	Path     string // such as /v1/server/users/{user}; a name in braces is a field of the request, or For
	Scope    Scope
	Reasoned bool // the query must say why (reason)
	Texts    bool // its reply holds texts of users, or it reads as a user or as the system: callers with the scope support alone must say why, and are stored as acts
	Keyed    bool // the header Idempotency-Key is required, so that a repeated request counts once

	Command string // the command of users that it calls for the user that the path names; "": none
	System  bool   // it calls the command as chat.System instead

	Example any    // a request that a test sends; nil if Request is nil, or if Command is set: then the command's example is sent
	Group   string // name of its group; Operations sets it
}

// Group is a section of the documents.
type Group struct {
	Name, Does string
	Operations []Operation
}

// Groups returns all operations, in the order of the documents.
func Groups() []Group {
	return []Group{
		{"users", "Users of the host.", userOperations},
		{"rooms", "Rooms of the host, and their members.", roomOperations},
		{"money", "Wallets of users, their limits and transfers.", slices.Concat(moneyOperations, walletOperations, transferOperations, storyOperations)},
		{"act", "Commands of users, which the host calls for a user. The user's rates and budgets do not count.", actOperations},
		{"system", "Commands that the host calls in its own name, in any room.", systemOperations},
		{"reports", "What users have reported: texts, packets and other users.", reportOperations},
		{"privacy", "Erase and export users, and keep what must not be erased.", privacyOperations},
		{"files", "Pictures, recordings and other files of users.", fileOperations},
		{"events", "What has happened, for the host to read. The same events are sent to the webhook.", eventOperations},
		{"operate", "How the installation is, and audits of its books.", operateOperations},
		{"acts", "What the holders of keys and administrators have done.", actExportOperations},
		{"documents", "The documents of the server API, for programs.", documentOperations},
	}
}

// Always holds the codes that every operation may return.
var Always = []wire.Code{
	wire.CodeInternal, wire.CodeUnauthorized, wire.CodeForbidden, wire.CodeBadRequest, wire.CodeRateLimited, wire.CodeUnavailable,
}

// Operations returns the table of all operations, in the order of the documents.
func Operations() (all []Operation) {
	for _, g := range Groups() {
		for _, o := range g.Operations {
			o.Group = g.Name
			all = append(all, o)
		}
	}
	return all
}

// Find returns the operation with this name.
func Find(name string) (Operation, bool) {
	all := Operations()
	i := slices.IndexFunc(all, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, false
	}
	return all[i], true
}

// InPath reports whether a field of the request is part of the path.
func (o Operation) InPath(field string) bool { return strings.Contains(o.Path, "{"+field+"}") }

// Parameters returns the names of the fields of the request that are parameters of the query.
func (o Operation) Parameters() (names []string) {
	if o.Request == nil {
		return nil
	}
	for f := range reflect.TypeOf(o.Request).Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); o.InQuery(name) {
			names = append(names, name)
		}
	}
	return names
}

// InQuery reports whether a field of the request is a parameter of the query. A field that is neither in the path nor in the query
// is in the body.
func (o Operation) InQuery(field string) bool {
	return !o.InPath(field) && (o.Verb == "GET" || o.Verb == "DELETE")
}
