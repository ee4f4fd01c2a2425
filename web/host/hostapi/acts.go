package hostapi

import "hongbao/web/wire"

// For is the name of the part of a path that holds the id of the user for whom a command is called.
const For = "for"

// scopes holds the scope of each command of users.
var scopes = map[string]Scope{
	"send_packet": Money, "grab": Money, "cancel_packet": Money,

	"contacts": Read, "users": Read, "rooms": Read, "find_rooms": Read, "members": Read, "presence": Read, "links": Read, "join_requests": Read,
	"history": Read, "mentions": Read, "packet": Read, "packets": Read, "wallet": Read, "push_key": Read,

	"create_room": Chat, "direct": Chat, "update_room": Chat, "delete_room": Chat, "join": Chat, "leave": Chat, "invite": Chat, "create_link": Chat,
	"revoke_link": Chat, "join_link": Chat, "answer_request": Chat, "kick": Chat, "unban": Chat, "set_role": Chat, "mute": Chat,
	"send": Chat, "edit": Chat, "recall": Chat, "react": Chat, "read": Chat, "report": Chat,
	"block": Chat, "unblock": Chat, "set_contact": Chat, "set_room_prefs": Chat, "subscribe_push": Chat, "unsubscribe_push": Chat,
}

// systemCommands are the commands that the host may call in its own name (as chat.System), each with its scope.
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
		command, scope := m.Name, scopes[m.Name]
		m.Name, m.Does, m.Rate, m.Cost = "as_"+command, "Calls the command "+command+" for a user. "+m.Does, "", 0
		m.Errors = append([]wire.Code{wire.CodeNotFound, wire.CodeSuspended}, m.Errors...)
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/as/{" + For + "}/" + command, Scope: scope, Command: command,
		})
	}
	return operations
}()
