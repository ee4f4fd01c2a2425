package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hongbao/web/wire"
)

// openAPI returns the description of the HTTP interface.
func openAPI() object {
	all := schemas{}
	paths := object{"/v1/socket": object{"get": socketOperation(all)}}
	for _, m := range wire.Methods {
		paths["/v1/commands/"+m.Name] = object{"post": operation(all, m, wire.OverHTTP...)}
	}
	for _, e := range wire.Endpoints {
		o := operation(all, e.Method, wire.CodeUnauthorized, wire.CodeTokenExpired)
		if e.Open {
			o = operation(all, e.Method)
			o["security"] = []object{} // none
		}
		path, _ := paths[e.Path].(object)
		if path == nil {
			path = object{}
			paths[e.Path] = path
		}
		path[strings.ToLower(e.Verb)] = o
	}
	return object{
		"openapi": "3.1.1",
		"info": info("Group chats with red packets, over HTTP. Every command is there over the socket too, " +
			"and what is pushed there is described by /v1/asyncapi.json."),
		"servers":  []object{{"url": "/"}},
		"security": []object{{"bearer": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas": all,
			"securitySchemes": object{"bearer": object{
				"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
				"description": "A token of the host, or of a guest. /v1/admin/ requires the scope hongbao:admin, or the one that the server is configured with.",
			}},
		},
	}
}

// operation describes a command as an HTTP request. more are error codes in addition to wire.Always and those of the method.
func operation(all schemas, m wire.Method, more ...wire.Code) object {
	o := object{
		"operationId": m.Name,
		"summary":     m.Does,
		"responses":   responses(all, m, slices.Concat(wire.Always, more, m.Errors)),
	}
	if m.Request != nil {
		o["requestBody"] = object{"required": true, "content": jsonContent(all.of(m.Request))}
	}
	if m.Rate != "" {
		o["x-rate"] = m.Rate
	}
	return o
}

// responses describes the reply, and the errors grouped by their HTTP status.
func responses(all schemas, m wire.Method, errors []wire.Code) object {
	byStatus := map[int][]wire.Code{}
	for _, code := range errors {
		byStatus[code.Status()] = append(byStatus[code.Status()], code)
	}
	answers := object{"200": object{"description": "Done.", "content": jsonContent(all.of(m.Reply))}}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		codes := byStatus[status]
		slices.SortFunc(codes, cmp.Compare[wire.Code])
		words := make([]string, len(codes))
		for i, code := range codes {
			words[i] = code.Word()
		}
		answer := object{
			"description": strings.Join(words, ", "),
			"content": jsonContent(object{"allOf": []object{
				all.of(wire.ErrorBody{}),
				record(object{"error": record(object{"code": object{"enum": codes}})}),
			}}),
		}
		if status == wire.CodeRateLimited.Status() {
			answer["headers"] = object{"Retry-After": object{"description": "seconds", "schema": object{"type": "integer", "minimum": 1}}}
		}
		answers[strconv.Itoa(status)] = answer
	}
	return answers
}

func jsonContent(schema object) object {
	return object{"application/json": object{"schema": schema}}
}

// socketOperation describes the request that upgrades to a WebSocket. The messages over the WebSocket are in
// asyncapi.json.
func socketOperation(all schemas) object {
	query := object{
		"name": "cf_protocol", "in": "query", "schema": object{"enum": []string{"json", "protobuf"}},
		"description": "The encoding, if no subprotocol names it.",
	}
	return object{
		"operationId": "socket",
		"summary":     "Upgrades to the socket: the Centrifugo client protocol, version 2, as /v1/asyncapi.json describes.",
		"description": "A token may come with the upgrade or with the connect command.",
		"security":    []object{{}, {"bearer": []string{}}},
		"parameters":  []object{query},
		"responses": object{
			"101": object{"description": "Subprotocol centrifuge-json, centrifuge-protobuf or none."},
			"400": object{"description": "Only unknown subprotocols, or no upgrade at all."},
			"401": object{"description": "The token is bad."},
			"403": object{"description": "The origin is not allowed."},
			"429": object{"description": "The address has too many sockets, or makes too many handshakes."},
			"503": object{"description": "The server is draining, or has too much to do."},
		},
		"x-pushes": []object{all.of(wire.Entry{}), all.of(wire.Message{})},
		"x-closes": closeCodes(),
	}
}
