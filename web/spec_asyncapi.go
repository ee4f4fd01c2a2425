package web

import (
	"slices"

	"hongbao/web/wire"
)

// channelDocument collects what goes over the socket: its messages, in their envelope, and who sends them when.
type channelDocument struct {
	all        schemas
	messages   object // by name
	references object // to them, by name
	operations object
}

// asyncAPI describes what there is over the socket, in its JSON encoding. The Protobuf one holds the same.
func asyncAPI(version string) object {
	d := channelDocument{all: schemas{}, messages: object{}, references: object{}, operations: object{}}
	d.envelope()
	for _, m := range wire.Methods {
		d.command(m)
	}
	d.pushes()
	return object{
		"asyncapi": "3.0.0",
		"info": info(version, "Group chats with red packets, over the socket. The envelope is the Centrifugo client protocol, version 2; "+
			"frames may hold several messages, one on a line. What there is over HTTP is described by /v1/openapi.json."),
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

// message adds one to the channel, and gives the reference that operations have to it.
func (d channelDocument) message(name, summary string, payload object) object {
	d.messages[name] = object{"name": name, "summary": summary, "payload": payload}
	d.references[name] = ref("messages", name)
	return object{"$ref": "#/channels/socket/messages/" + name}
}

// operation says that the server receives a message, or sends any of them. It gives what it has added.
func (d channelDocument) operation(name, action, summary string, messages ...object) object {
	o := object{"action": action, "channel": object{"$ref": "#/channels/socket"}, "summary": summary, "messages": messages}
	d.operations[name] = o
	return o
}

// answered says what a command is answered with, besides the error that each may have.
func (d channelDocument) answered(operation object, errors []wire.Code, replies ...object) {
	failed := d.message("error", "A command failed.", record(object{
		"id": idSchema(), "error": record(object{
			"code": d.all.of(wire.CodeInternal), "message": object{"type": "string"}, "temporary": object{"const": true},
		}, "code", "message"),
	}, "id", "error"))
	operation["reply"] = object{"channel": object{"$ref": "#/channels/socket"}, "messages": append(replies, failed)}
	operation["x-errors"] = slices.Sorted(slices.Values(errors))
}

// command is one method as an RPC.
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
	d.answered(o, slices.Concat(wire.Always, m.Errors), reply)
}

// pushes are the entries of rooms and everything that the server tells without being asked.
func (d channelDocument) pushes() {
	d.all.of(wire.Entry{}) // the kinds belong to it
	for _, k := range wire.Kinds {
		entry := object{"allOf": []object{ref("schemas", "Entry"), record(object{"kind": object{"const": k.Kind}})}}
		publication := d.message("entry."+k.Kind, "An entry of a room, of the kind "+k.Kind+".", pushed(object{
			"channel": channelSchema(), "pub": record(object{"offset": seqSchema(), "data": entry}, "offset", "data"),
		}, "channel", "pub"))
		d.operation("entry."+k.Kind, "send", "Tells the room of an entry, in order and without gaps.", publication)
	}
	d.all.of(wire.Message{})
	for _, p := range wire.PushNames {
		data := record(object{p.Name: d.all.of(p.Data)}, p.Name)
		told := d.message("push."+p.Name, "The push "+p.Name+", which has no place in a sequence.", pushed(object{
			"message": record(object{"data": data}, "data"),
		}, "message"))
		d.operation("push."+p.Name, "send", "May be merged, or dropped for a slow connection.", told)
	}
}
