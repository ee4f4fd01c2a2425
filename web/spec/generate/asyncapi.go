package main

import (
	"slices"
	"strings"

	"hongbao/web/wire"
)

// channelDocument collects the messages of one channel, the socket or the webhook, and the operations that use them, for an
// AsyncAPI document.
type channelDocument struct {
	all        schemas
	examples   exampleSet
	messages   object // by name
	references object // to the messages, by name
	operations object
	channel    string
	scheme     string // name of the security scheme of all operations
}

// asyncAPI returns the description of the socket interface in its JSON encoding. The Protobuf encoding has the same
// fields, except reason and data of errors.
func asyncAPI(examples exampleSet) object {
	d := channelDocument{all: schemas{}, examples: examples, messages: object{}, references: object{}, operations: object{}, channel: "socket", scheme: "token"}
	d.envelope()
	for _, m := range wire.Methods {
		d.command(m)
	}
	d.pushes()
	head := info("Group chats with red packets, over the socket. The envelope is the Centrifugo client protocol, version 2; " +
		"a frame may hold several messages, one per line. /v1/openapi.json describes the HTTP interface.")
	tagged, listed := object{}, []object{}
	for _, g := range wire.Groups {
		tagged[g.Name] = object{"name": g.Name, "description": g.Does}
		listed = append(listed, ref("tags", g.Name))
	}
	head["tags"] = listed
	return object{
		"asyncapi": "3.1.0",
		"info":     head,
		"servers": object{"instance": object{
			"host": "{host}", "protocol": "wss", "description": "Any instance. Without TLS the protocol is ws.",
			"variables": object{"host": object{"default": "127.0.0.1:8080", "description": "Host and port of the server."}},
		}},
		"defaultContentType": "application/json",
		"channels": object{"socket": object{
			"address": "/v1/socket", "messages": d.references,
			"description": "The handshake is a GET with an upgrade to WebSocket. A token may come with it, or with the command connect. It is refused with 400 if it " +
				"names only unknown subprotocols, 401 if the token is bad, 403 if the origin is not allowed, 429 if the address has too many sockets, " +
				"and 503 if the server is stopping or has too much to do.",
			"bindings": object{"ws": object{"method": "GET", "query": record(object{"cf_protocol": object{
				"type": "string", "enum": []string{"json", "protobuf"}, "description": "The encoding, if no subprotocol (centrifuge-json, centrifuge-protobuf) names it.",
			}})}},
			"x-closes": closeCodes(),
		}},
		"operations": d.operations,
		"components": object{"schemas": d.all, "messages": d.messages, "tags": tagged, "securitySchemes": object{"token": object{
			"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
			"description": "A token of the host, or of a guest: in the command connect, or in the header Authorization of the handshake.",
		}}},
	}
}

// message adds a message to the channel and returns a reference to it.
func (d channelDocument) message(name, summary string, payload object) object {
	message := object{"name": name, "summary": summary, "payload": payload}
	if example, ok := d.examples.messages[name]; ok {
		message["examples"] = []object{{"payload": example}}
	}
	d.messages[name] = message
	d.references[name] = ref("messages", name)
	return object{"$ref": "#/channels/" + d.channel + "/messages/" + name}
}

// operation adds an operation and returns it. The action says whether the server receives ("receive") or sends
// ("send") the messages.
func (d channelDocument) operation(name, action, summary string, messages ...object) object {
	o := object{
		"action": action, "channel": object{"$ref": "#/channels/" + d.channel}, "summary": strings.TrimSuffix(summary, "."), "description": summary, "messages": messages,
		"security": []object{ref("securitySchemes", d.scheme)},
	}
	d.operations[name] = o
	return o
}

// replies sets the possible replies of a command: the given messages, and the error reply that every command may get.
func (d channelDocument) replies(operation object, errors []wire.Code, messages ...object) {
	failed := d.message("error", "A command failed.", record(object{
		"id": idSchema(), "error": record(object{
			"code": d.all.of(wire.CodeInternal), "message": object{"type": "string"}, "temporary": object{"const": true},
			"reason": object{"type": "string", "description": "Of denied: what the host says to the user. Only JSON has it; the message has it, too, percent-encoded."},
			"data":   object{"description": "Of denied: what the host says to the client. Only JSON has it; the message has it, too, percent-encoded."},
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
	o["description"], o["tags"] = describe(m), tagObjects(m)
	if m.Rate != "" {
		o["x-rate"] = m.Rate
	}
	d.replies(o, slices.Concat(wire.Always, m.Errors), reply)
}

// pushes adds the entries of rooms and the pushes without a seq.
func (d channelDocument) pushes() {
	d.all.of(wire.Entry{}) // adds the schemas of its kinds
	d.withoutDiscriminators()
	for _, k := range wire.Kinds {
		publication := d.message("entry."+k.Kind, "An entry of a room, of the kind "+k.Kind+".", pushed(object{
			"channel": channelSchema(), "pub": record(object{"offset": seqSchema(), "data": ref("schemas", entrySchema(k.Kind))}, "offset", "data"),
		}, "channel", "pub"))
		d.operation("entry."+k.Kind, "send", "An entry goes to every member of the room, in order and without gaps.", publication)
	}
	for _, p := range wire.Pushes() {
		data := record(object{p.Name: d.all.of(p.Data)}, p.Name)
		told := d.message("push."+p.Name, "The push "+p.Name+", which has no sequence number.", pushed(object{
			"message": record(object{"data": data}, "data"),
		}, "message"))
		d.operation("push."+p.Name, "send", "May be merged with others, or dropped for a slow connection.", told)
	}
}

// withoutDiscriminators removes the discriminators, which are in OpenAPI's form. AsyncAPI writes them in another way,
// which tools read differently; the constants of the kinds suffice.
func (d channelDocument) withoutDiscriminators() {
	for _, schema := range d.all {
		delete(schema, "discriminator")
	}
}

// tagObjects returns the tags of a method as AsyncAPI wants them: as references to objects, which are defined once in the document.
func tagObjects(m wire.Method) (all []object) {
	for _, name := range tagsOf(m) {
		all = append(all, ref("tags", name))
	}
	return all
}
