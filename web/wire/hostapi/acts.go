package hostapi

import "hongbao/web/wire"

// For is the part of a path that names the user for whom a command is called.
const For = "for"

// scopes holds the scope of each command that does not need Chat.
var scopes = map[string]Scope{
	"send_packet": Money, "grab": Money, "cancel_packet": Money,

	"contacts": Read, "users": Read, "rooms": Read, "find_rooms": Read, "members": Read, "presence": Read, "links": Read, "join_requests": Read,
	"history": Read, "mentions": Read, "packet": Read, "packets": Read, "wallet": Read, "push_key": Read,
}

// systemCommands are the commands that the host calls in its own name, each with its scope.
var systemCommands = map[string]Scope{
	"send": Chat, "edit": Chat, "invite": Chat, "set_role": Chat, "update_room": Chat, "delete_room": Chat,
	"recall": Moderate, "kick": Moderate, "unban": Moderate, "mute": Moderate,
	"members": Read, "history": Read,
}

// systemOperations has one operation for each of systemCommands. Their names begin with system_.
var systemOperations = func() []Operation {
	var operations []Operation
	for _, m := range wire.Methods {
		scope, ok := systemCommands[m.Name]
		if !ok {
			continue
		}
		command := m.Name
		m.Name, m.Does, m.Rate, m.Cost = "system_"+command, "Calls the command "+command+" as the system, in any room. "+m.Does, "", 0
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/system/" + command, Scope: scope, Command: command, System: true,
		})
	}
	return operations
}()

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
		m.Errors = append([]wire.Code{wire.CodeNotFound, wire.CodeSuspended}, m.Errors...)
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/as/{" + For + "}/" + command, Scope: scope, Command: command,
		})
	}
	return operations
}()
