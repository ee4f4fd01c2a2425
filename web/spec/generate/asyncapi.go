package main

import (
	"slices"

	"hongbao/web/wire"
)

// channelDocument collects the messages of the socket and the operations that use them, for the AsyncAPI document.
type channelDocument struct {
	all        schemas
	messages   object // by name
	references object // to the messages, by name
	operations object
}

// asyncAPI returns the description of the socket interface in its JSON encoding. The Protobuf encoding has the same
// fields.
func asyncAPI() object {
	d := channelDocument{all: schemas{}, messages: object{}, references: object{}, operations: object{}}
	d.envelope()
	for _, m := range wire.Methods {
		d.command(m)
	}
	d.pushes()
	return object{
		"asyncapi": "3.0.0",
		"info": info("Group chats with red packets, over the socket. The envelope is the Centrifugo client protocol, version 2; " +
			"a frame may hold several messages, one per line. /v1/openapi.json describes the HTTP interface."),
		"defaultContentType": "application/json",
		"channels": object{"socket": object{
			"address": "/v1/socket", "messages": d.references,
			"bindings": object{"ws": object{"method": "GET", "query": record(object{"cf_protocol": object{"enum": []string{"json", "protobuf"}}})}},
			"x-closes": closeCodes(),
		}},
		"operations": d.operations,
		"components": object{"schemas": d.all, "messages": d.messages},
	}
}

// message adds a message to the channel and returns a reference to it.
func (d channelDocument) message(name, summary string, payload object) object {
	d.messages[name] = object{"name": name, "summary": summary, "payload": payload}
	d.references[name] = ref("messages", name)
	return object{"$ref": "#/channels/socket/messages/" + name}
}

// operation adds an operation and returns it. The action says whether the server receives the message or sends the
// messages.
func (d channelDocument) operation(name, action, summary string, messages ...object) object {
	o := object{"action": action, "channel": object{"$ref": "#/channels/socket"}, "summary": summary, "messages": messages}
	d.operations[name] = o
	return o
}

// replies sets the possible replies of a command: the given messages, and the error reply that every command may get.
func (d channelDocument) replies(operation object, errors []wire.Code, messages ...object) {
	failed := d.message("error", "A command failed.", record(object{
		"id": idSchema(), "error": record(object{
			"code": d.all.of(wire.CodeInternal), "message": object{"type": "string"}, "temporary": object{"const": true},
		}, "code", "message"),
	}, "id", "error"))
	operation["reply"] = object{"channel": object{"$ref": "#/channels/socket"}, "messages": append(messages, failed)}
	operation["x-errors"] = slices.Sorted(slices.Values(errors))
}

// command adds one method as an RPC.
func (d channelDocument) command(m wire.Method) {
	request := d.message("command."+m.Name, m.Does, record(object{
		"id": idSchema(), "rpc": record(object{"method": object{"const": m.Name}, "data": d.all.of(m.Request)}, "method"),
	}, "id", "rpc"))
	reply := d.message("reply."+m.Name, "The answer to "+m.Name+".", record(object{
		"id": idSchema(), "rpc": record(object{"data": d.all.of(m.Reply)}, "data"),
	}, "id", "rpc"))
	o := d.operation(m.Name, "receive", m.Does, request)
	if m.Rate != "" {
		o["x-rate"] = m.Rate
	}
	d.replies(o, slices.Concat(wire.Always, m.Errors), reply)
}

// pushes adds the entries of rooms and the pushes without a seq.
func (d channelDocument) pushes() {
	d.all.of(wire.Entry{}) // adds the schemas of all kinds, too
	for _, k := range wire.Kinds {
		entry := object{"allOf": []object{ref("schemas", "Entry"), record(object{"kind": object{"const": k.Kind}})}}
		publication := d.message("entry."+k.Kind, "An entry of a room, of the kind "+k.Kind+".", pushed(object{
			"channel": channelSchema(), "pub": record(object{"offset": seqSchema(), "data": entry}, "offset", "data"),
		}, "channel", "pub"))
		d.operation("entry."+k.Kind, "send", "An entry goes to every member of the room, in order and without gaps.", publication)
	}
	d.all.of(wire.Message{})
	for _, p := range wire.PushNames {
		data := record(object{p.Name: d.all.of(p.Data)}, p.Name)
		told := d.message("push."+p.Name, "The push "+p.Name+", which has no sequence number.", pushed(object{
			"message": record(object{"data": data}, "data"),
		}, "message"))
		d.operation("push."+p.Name, "send", "May be merged with others, or dropped for a slow connection.", told)
	}
}
