package hostapi

import (
	"slices"
	"strings"

	"hongbao/web/wire"
)

// Scope names operations that a key may call.
type Scope string

// The scopes. Each operation needs one of them. A key with the scope admin may call all operations.
const (
	Read     Scope = "read"     // everything that changes nothing
	Chat     Scope = "chat"     // users, rooms, members, texts, commands of users that move no money
	Money    Scope = "money"    // wallets, limits, and commands of users that move money
	Moderate Scope = "moderate" // recalls, mutes, bans, suspensions, reports
	Admin    Scope = "admin"
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{Read, Chat, Money, Moderate, Admin} }

// Operation is one request of the server API.
type Operation struct {
	wire.Method // Name is unique; Request is nil only if the operation has no parameters at all

	Verb  string // GET, POST, PUT, DELETE
	Path  string // such as /v1/server/users/{user}; a name in braces is a field of the request
	Scope Scope
	Keyed bool // it creates something: the header Idempotency-Key is required

	Command string // the command of users that it calls for the user that the path names; "": none
	System  bool   // it calls the command as chat.System instead

	Example any // a request that a test sends
}

// Always holds the codes that every operation may return.
var Always = []wire.Code{
	wire.CodeInternal, wire.CodeUnauthorized, wire.CodeForbidden, wire.CodeBadRequest, wire.CodeRateLimited, wire.CodeUnavailable,
}

// Operations returns the table of all operations, in the order of the documents.
func Operations() []Operation {
	return slices.Concat(userOperations, moneyOperations, actOperations, systemOperations, eventOperations)
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

// InPath reports whether the field of the request is part of the path.
func (o Operation) InPath(field string) bool { return strings.Contains(o.Path, "{"+field+"}") }

// InQuery reports whether the field of the request is a parameter of the query. All other fields are in the body.
func (o Operation) InQuery(field string) bool {
	return !o.InPath(field) && (o.Verb == "GET" || o.Verb == "DELETE")
}
