package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

// openAPI returns the description of the HTTP interface. The WebSocket and its handshake are in the AsyncAPI document.
func openAPI(examples exampleSet) object {
	all := schemas{}
	paths := object{}
	for _, m := range wire.Methods {
		paths["/v1/commands/"+m.Name] = object{"post": operation(all, examples, m, wire.OverHTTP...)}
	}
	for _, e := range wire.Endpoints {
		o := operation(all, examples, e.Method, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeSuspended)
		if e.Open {
			o = operation(all, examples, e.Method)
			o["security"] = []object{} // none
		}
		path, _ := paths[e.Path].(object)
		if path == nil {
			path = object{}
			paths[e.Path] = path
		}
		path[strings.ToLower(e.Verb)] = o
	}
	maps.Copy(paths, contentPaths(all, examples))
	maps.Copy(paths, proofPaths(all, examples))
	return object{
		"openapi": "3.1.1",
		"info": info("Group chats with red packets, over HTTP. Every command is there over the socket too; " +
			"/v1/asyncapi.json describes the socket and what is pushed there."),
		"servers":  []object{{"url": "/"}},
		"security": []object{{"bearer": []string{}}},
		"tags":     allTags(),
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

// proofPaths describes the requests for the proof of a packet and for the keys of receipts.
func proofPaths(all schemas, examples exampleSet) object {
	document := operation(all, examples, wire.Method{
		Name: "proof", Group: "packets", Does: "Returns the proof of a finished packet.", Reply: proof.Document{},
		Errors: []wire.Code{wire.CodeNotFound, wire.CodeNotMember, wire.CodeBanned, wire.CodeConflict},
	}, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeSuspended)
	document["parameters"] = []object{{"in": "path", "name": "packet", "required": true, "description": "the packet", "schema": object{"type": "string"}}}
	keys := operation(all, examples, wire.Method{
		Name: "receipt_keys", Group: "packets", Does: "Returns the public keys of receipts.", Reply: wire.ReceiptKeysReply{},
	})
	keys["security"] = []object{}
	return object{"/v1/packets/{packet}/proof": object{"get": document}, "/v1/receipt-keys": object{"get": keys}}
}

// contentPaths describes the requests that carry the content of files: their bodies are no JSON.
func contentPaths(all schemas, examples exampleSet) object {
	parameter := func(in, name, means string) object {
		return object{"in": in, "name": name, "required": in == "path", "description": means, "schema": object{"type": "string"}}
	}
	file := []object{parameter("path", "room", "the room"), parameter("path", "file", "the id of the file")}
	raw := object{"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}}}
	upload := operation(all, examples, wire.Method{
		Name: "upload", Group: "files", Does: "Brings content of an upload.", Reply: wire.FileState{},
		Errors: []wire.Code{wire.CodeNotFound, wire.CodeTooLong, wire.CodeConflict, wire.CodeDenied},
	}, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeSuspended)
	upload["responses"].(object)["200"] = object{"description": "How far the upload has come.", "content": jsonContent(all.of(wire.FileState{}), examples.replies["file_state"])}
	upload["requestBody"] = object{"required": true, "content": raw}
	upload["parameters"] = append(slices.Clone(file), parameter("query", "offset", "how many bytes have come before; 0 if it is left out"))
	download := operation(all, examples, wire.Method{
		Name: "download", Group: "files", Does: "Returns the content of a file.", Reply: wire.FileState{},
		Errors: []wire.Code{wire.CodeForbidden, wire.CodeNotFound, wire.CodeNotMember, wire.CodeBanned},
	}, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeSuspended)
	answers, _ := download["responses"].(object)
	answers["200"] = object{"description": "The content.", "content": object{"*/*": object{"schema": object{"type": "string", "format": "binary"}}}}
	answers["206"] = object{"description": "The range that the request asks for."}
	answers["307"] = object{"description": "The address in the object store, for a minute."}
	download["security"] = []object{{"bearer": []string{}}, {}}
	download["parameters"] = append(slices.Clone(file), parameter("path", "version", "original, middle or small"),
		parameter("query", "user", "of a link"), parameter("query", "until", "of a link"), parameter("query", "mac", "of a link; without it the request needs a token"))
	return object{"/v1/files/{room}/{file}": object{"post": upload}, "/v1/files/{room}/{file}/{version}": object{"get": download}}
}

// operation describes a command or an endpoint as an HTTP request. more are error codes in addition to wire.Always and those of
// the method.
func operation(all schemas, examples exampleSet, m wire.Method, more ...wire.Code) object {
	o := object{
		"operationId": m.Name,
		"summary":     strings.TrimSuffix(m.Does, "."),
		"description": describe(m),
		"tags":        tagsOf(m),
		"responses":   responses(all, m, examples.replies[m.Name], slices.Concat(wire.Always, more, m.Errors)),
	}
	if m.Request != nil {
		o["requestBody"] = object{"required": true, "content": jsonContent(all.of(m.Request), examples.requests[m.Name])}
	}
	if m.Rate != "" {
		o["x-rate"] = m.Rate
	}
	return o
}

// responses describes the reply, and the errors grouped by their HTTP status.
func responses(all schemas, m wire.Method, example json.RawMessage, errors []wire.Code) object {
	byStatus := map[int][]wire.Code{}
	for _, code := range errors {
		byStatus[code.Status()] = append(byStatus[code.Status()], code)
	}
	answers := object{"200": object{"description": "Done.", "content": jsonContent(all.of(m.Reply), example)}}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		codes := byStatus[status]
		slices.SortFunc(codes, cmp.Compare[wire.Code])
		words := make([]string, len(codes))
		for i, code := range codes {
			words[i] = code.Word()
		}
		answer := object{
			"description": strings.Join(words, ", "),
			"content":     jsonContent(all.failure(codes), encoded(wire.ErrorBody{Error: wire.NewError(codes[0])})),
		}
		if status == wire.CodeRateLimited.Status() {
			answer["headers"] = object{"Retry-After": object{"description": "seconds", "schema": object{"type": "integer", "minimum": 1}}}
		}
		answers[strconv.Itoa(status)] = answer
	}
	return answers
}

// withFailures moves the error responses of all paths into the components of the document, and puts references in their place. The
// name of such a response is its status with the words of its codes. Equal responses share one name.
func withFailures(document object) object {
	failures := object{}
	for _, path := range document["paths"].(object) {
		for _, o := range path.(object) {
			answers := o.(object)["responses"].(object)
			for status, answer := range answers {
				if status < "400" {
					continue
				}
				name := status + "." + strings.ReplaceAll(answer.(object)["description"].(string), ", ", ".")
				failures[name] = answer
				answers[status] = object{"$ref": "#/components/responses/" + name}
			}
		}
	}
	document["components"].(object)["responses"] = failures
	return document
}

func jsonContent(schema object, example json.RawMessage) object {
	return object{"application/json": object{"schema": schema, "example": example}}
}

// failure returns the schema of an error body with one of the codes. It is complete by itself, so that a generated type is exact.
func (all schemas) failure(codes []wire.Code) object {
	schema := all.ofStruct(reflect.TypeFor[wire.Error]())
	properties, _ := schema["properties"].(object)
	properties["code"] = object{"allOf": []object{all.of(codes[0]), {"enum": codes}}}
	return record(object{"error": schema}, "error")
}
