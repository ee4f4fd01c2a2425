package hostapi

import "hongbao/web/wire"

// For is the part of a path that names the user for whom a command is called.
const For = "for"

// scopes holds the scope of each command that does not need Chat.
var scopes = map[string]Scope{
	"send_packet": Money, "grab": Money, "cancel_packet": Money,

	"contacts": Read, "users": Read, "rooms": Read, "find_rooms": Read, "members": Read, "presence": Read, "links": Read, "join_requests": Read,
	"history": Read, "mentions": Read, "packet": Read, "packets": Read, "wallet": Read,
}

// actOperations has one operation for each command of users. Their names begin with as_.
var actOperations = func() []Operation {
	var operations []Operation
	for _, m := range wire.Methods {
		scope, ok := scopes[m.Name]
		if !ok {
			scope = Chat
		}
		command := m.Name
		m.Name, m.Does, m.Rate, m.Cost = "as_"+command, "Calls the command "+command+" for a user. "+m.Does, "", 0
		m.Errors = append([]wire.Code{wire.CodeNotFound}, m.Errors...)
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/as/{" + For + "}/" + command, Scope: scope, Command: command,
		})
	}
	return operations
}()
