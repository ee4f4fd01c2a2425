package hostapi

import "hongbao/web/wire"

// For is the name of the part of a path that holds the id of the user for whom a command is called.
const For = "for"

// systemOperations has one operation for each command that the host may call in its own name (as chat.System). Their names begin with system_.
var systemOperations = func() []Operation {
	var operations []Operation
	for _, m := range wire.Methods {
		if m.AsSystem == "" {
			continue
		}
		command := m.Name
		m.Name, m.Does, m.Rate, m.Cost = "system_"+command, "Calls the command "+command+" as the system, in any room. "+m.Does, "", 0
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/system/" + command, Scope: m.AsSystem, Texts: m.AsSystem == Read, Command: command, System: true,
		})
	}
	return operations
}()

// actOperations has one operation for each command of users. Their names begin with as_.
var actOperations = func() []Operation {
	var operations []Operation
	for _, m := range wire.Methods {
		command := m.Name
		m.Name, m.Does, m.Rate, m.Cost = "as_"+command, "Calls the command "+command+" for a user. "+m.Does, "", 0
		m.Errors = append([]wire.Code{wire.CodeNotFound, wire.CodeSuspended}, m.Errors...)
		operations = append(operations, Operation{
			Method: m, Verb: "POST", Path: "/v1/server/as/{" + For + "}/" + command, Scope: m.AsUser, Texts: m.AsUser == Read, Command: command,
		})
	}
	return operations
}()
