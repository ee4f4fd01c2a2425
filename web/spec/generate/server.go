package main

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// serverOpenAPI returns the description of the server API.
func serverOpenAPI(examples exampleSet) object {
	all := schemas{}
	paths, tags := object{}, []object(nil)
	for _, g := range hostapi.Groups() {
		tags = append(tags, object{"name": g.Name, "description": g.Does})
	}
	for _, o := range hostapi.Operations() {
		path, _ := paths[o.Path].(object)
		if path == nil {
			path = object{}
			paths[o.Path] = path
		}
		path[strings.ToLower(o.Verb)] = serverOperation(all, examples, o)
	}
	event := all.of(hostapi.Event{})
	return object{
		"openapi": "3.1.1",
		"info": info("What the back end of a host may ask of hongbao, on a listener that clients do not reach. " +
			"/v1/server/asyncapi.json describes the events that the webhook receives."),
		"servers":  []object{{"url": "/"}},
		"security": []object{{"key": []string{}}},
		"tags":     tags,
		"paths":    paths,
		"webhooks": object{"event": object{"post": object{
			"operationId": "receive_event", "tags": []string{"events"}, "security": []object{},
			"summary":     "An event, sent to the host",
			"description": "An event, sent to the host and signed as Standard Webhooks says. It may come more than once, with the same id.",
			"parameters":  webhookHeaders(),
			"requestBody": object{"required": true, "content": jsonContent(event, examples.events["message.new"])},
			"responses":   object{"2XX": object{"description": "The host has processed the event. After any other status it is sent again."}},
		}}, "hook": object{"post": object{
			"operationId": "answer_hook", "tags": []string{"events"}, "security": []object{},
			"summary": "A question before a command, sent to the host",
			"description": "The host is asked about a command before it is carried out, as HONGBAO_HOOKS says. The request is signed as Standard Webhooks says. " +
				"The answer must come within HONGBAO_HOOK_TIMEOUT.",
			"parameters":  webhookHeaders(),
			"requestBody": object{"required": true, "content": jsonContent(all.of(hostapi.HookQuestion{}), encoded(hostapi.HookExample))},
			"responses": object{"200": object{
				"description": "The verdict. Any other status, and any other body, is none.",
				"content":     jsonContent(all.of(hostapi.HookAnswer{}), encoded(hostapi.HookAnswerExample)),
			}},
		}}},
		"components": object{
			"schemas": all,
			"parameters": object{
				"RequestID": object{
					"name": "X-Request-Id", "in": "header", "description": "Says which request of the caller this is. It is stored with the act. An id of another form is replaced.",
					"schema": object{"type": "string", "pattern": "^[A-Za-z0-9._:/=+-]{1,64}$"},
				},
				"Reason": object{
					"name": "reason", "in": "query", "description": "Says why. It is stored with the act.", "schema": object{"type": "string", "maxLength": 200},
				},
				"RequiredReason": object{
					"name": "reason", "in": "query", "required": true, "description": "Says why. It is stored with the act.",
					"schema": object{"type": "string", "minLength": 1, "maxLength": 200},
				},
				"IdempotencyKey": object{
					"name": "Idempotency-Key", "in": "header", "required": true,
					"description": "The request is carried out once, however often it is repeated with the same key.",
					"schema":      object{"type": "string", "pattern": "^[!-~]{1,64}$"},
				},
			},
			"securitySchemes": object{"key": object{
				"type": "http", "scheme": "bearer", "description": "A key that `hongbao apikey new` has made. Each operation names the scope that the key needs; " +
					"a key with the scope admin may call all.",
			}},
		},
	}
}

// serverOperation describes an operation of the server API.
func serverOperation(all schemas, examples exampleSet, o hostapi.Operation) object {
	request, reply := encodedOr(o.Example), examples.server[o.Name]
	if o.Group == "documents" {
		reply = json.RawMessage(`{"info":{"title":"hongbao"}}`)
	}
	if o.Command != "" {
		request, reply = examples.requests[o.Command], examples.replies[o.Command]
	}
	m := o.Method
	codes := slices.Concat(hostapi.Always, m.Errors)
	slices.Sort(codes)
	does := m.Does + " Needs the scope `" + string(o.Scope) + "`."
	if o.Texts {
		does += " With `support` in its place, say why (`reason`)."
	}
	described := object{
		"operationId": m.Name, "summary": strings.TrimSuffix(m.Does, "."), "description": does, "tags": []string{o.Group},
		"x-scope":   o.Scope,
		"responses": responses(all, m, reply, slices.Compact(codes)),
	}
	reason := ref("parameters", "Reason")
	if o.Reasoned {
		reason = ref("parameters", "RequiredReason")
	}
	parameters := []object{ref("parameters", "RequestID"), reason}
	if o.Keyed {
		parameters = append(parameters, ref("parameters", "IdempotencyKey"))
	}
	if o.Command != "" && !o.System {
		parameters = append(parameters, object{
			"name": hostapi.For, "in": "path", "required": true, "description": "The user for whom the command is called.",
			"schema": object{"type": "string", "minLength": 1}, "example": "ann",
		})
	}
	if o.Command == "grab" {
		parameters = append(parameters, object{
			"name": "person", "in": "query", "description": "Says what person the user is, as the claim person of a token does.", "schema": object{"type": "string", "maxLength": 64},
		})
	}
	if o.Request == nil {
		described["parameters"] = parameters
		return described
	}
	kind := reflect.TypeOf(o.Request)
	inBody := []string(nil)
	var values map[string]json.RawMessage
	_ = json.Unmarshal(request, &values) // nil, if there is no example: TestExamplesMatch finds that
	for _, f := range reflect.VisibleFields(kind) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		place := "query"
		switch {
		case o.InPath(name):
			place = "path"
		case !o.InQuery(name):
			inBody = append(inBody, name)
			continue
		}
		schema := all.ofType(f.Type)
		constrain(schema, f.Tag, true, option == "omitempty")
		parameter := object{"name": name, "in": place, "required": option == "", "schema": schema}
		if value, ok := values[name]; ok {
			parameter["example"] = value
		}
		parameters = append(parameters, parameter)
		delete(values, name)
	}
	described["parameters"] = parameters
	if len(inBody) > 0 {
		described["requestBody"] = object{"required": true, "content": jsonContent(all.body(kind, inBody), encodedOr(values))}
	}
	return described
}

// body returns the schema of a request's body, which holds these fields of the request.
func (all schemas) body(request reflect.Type, fields []string) object {
	whole := all.ofStruct(request)
	properties, _ := whole["properties"].(object)
	if len(fields) == len(properties) {
		return all.ofType(request)
	}
	required, _ := whole["required"].([]string)
	outside := func(name string) bool { return !slices.Contains(fields, name) }
	for name := range properties {
		if outside(name) {
			delete(properties, name)
		}
	}
	name := strings.TrimSuffix(schemaName(request), "Request") + "Body"
	all[name] = record(properties, slices.DeleteFunc(required, outside)...)
	return ref("schemas", name)
}

// encodedOr encodes a value, and returns nil for nil.
func encodedOr(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return encoded(v)
}

// webhookHeaders describes the headers of a request to the host: the delivery of an event, or the question of a hook.
func webhookHeaders() (all []object) {
	for _, h := range webhookHeaderNames {
		all = append(all, object{"name": h.name, "in": "header", "required": true, "description": h.does, "schema": textSchema()})
	}
	return all
}

var webhookHeaderNames = []struct{ name, does string }{
	{"webhook-id", "The id of the event."},
	{"webhook-timestamp", "When it was sent, in seconds since 1970. Refuse one that is older than five minutes."},
	{"webhook-signature", "One or two signatures, as Standard Webhooks says."},
}

// serverAsyncAPI returns the description of what the webhook receives.
func serverAsyncAPI(examples exampleSet) object {
	d := channelDocument{all: schemas{}, messages: object{}, references: object{}, operations: object{}, channel: "webhook", scheme: "signature"}
	headers := object{}
	for _, h := range webhookHeaderNames {
		headers[h.name] = object{"type": "string", "description": h.does}
	}
	d.all.of(hostapi.Event{})
	d.withoutDiscriminators()
	groups, tagged := []object(nil), object{}
	for _, k := range hostapi.EventKinds() {
		group, _, _ := strings.Cut(k.Kind, ".")
		if tagged[group] == nil {
			tagged[group] = object{"name": group, "description": "Events whose type begins with " + group + "."}
			groups = append(groups, ref("tags", group))
		}
		message := d.message(k.Kind, k.Does, ref("schemas", eventSchema(k.Kind)))
		d.messages[k.Kind].(object)["headers"] = record(headers, "webhook-id", "webhook-timestamp", "webhook-signature") //nolint:forcetypeassert // set by message
		if example, ok := examples.events[k.Kind]; ok {
			d.messages[k.Kind].(object)["examples"] = []object{{"payload": example}} //nolint:forcetypeassert // as above
		}
		o := d.operation(k.Kind, "send", k.Does, message)
		o["tags"] = []object{ref("tags", group)}
	}
	head := info("Events of hongbao, as the webhook of a host receives them: each is one POST, signed as Standard Webhooks says. They come at least once, " +
		"in order for each room and each user. /v1/server/openapi.json describes the same events for reading.")
	head["tags"] = groups
	return object{
		"asyncapi": "3.1.0", "info": head, "defaultContentType": "application/json",
		"servers": object{"host": object{
			"host": "{host}", "protocol": "https", "description": "The back end of the host.",
			"variables": object{"host": object{"default": "shop.example", "description": "As HONGBAO_WEBHOOK_URL says."}},
		}},
		"channels": object{"webhook": object{
			"description": "The URL that HONGBAO_WEBHOOK_URL names.", "messages": d.references,
			"bindings": object{"http": object{}},
		}},
		"operations": d.operations,
		"components": object{"schemas": d.all, "messages": d.messages, "tags": tagged, "securitySchemes": object{"signature": object{
			"type": "httpApiKey", "name": "webhook-signature", "in": "header", "description": "The host verifies the signature with its secret, as Standard Webhooks says.",
		}}},
	}
}

// event returns the schema of an event: one of the schemas of its kinds, each of which is complete.
func (all schemas) event() object {
	var kinds []object
	mapping := object{}
	for _, k := range hostapi.EventKinds() {
		whole := all.ofStruct(reflect.TypeFor[hostapi.EventData]())
		fields, _ := whole["properties"].(object)
		properties := object{}
		keep := func(name string, present bool) {
			if present {
				properties[name] = fields[name]
			}
		}
		keep("room", k.Room)
		keep("user", k.User)
		keep("claim", k.Claim)
		keep("transfer", k.Transfer)
		if k.Entry != "" {
			all.of(wire.Entry{}) // adds the schemas of its kinds
			properties["entry"] = entrySchemas(k.Entry)
		}
		if k.Details != nil {
			properties["details"] = all.of(k.Details)
		}
		required := []string(nil)
		for name := range properties {
			if name != "details" || !k.Sometimes {
				required = append(required, name)
			}
		}
		slices.SortFunc(required, cmp.Compare[string])
		schema := all.ofStruct(reflect.TypeFor[hostapi.Event]())
		of, _ := schema["properties"].(object)
		of["type"], of["data"] = object{"type": "string", "const": k.Kind}, record(properties, required...)
		all[eventSchema(k.Kind)] = schema
		kinds = append(kinds, ref("schemas", eventSchema(k.Kind)))
		mapping[k.Kind] = "#/components/schemas/" + eventSchema(k.Kind)
	}
	delete(all, "EventData") // replaced by the data of each kind
	return object{
		"description":   "One event. Ignore events of kinds that you do not know.",
		"oneOf":         kinds,
		"discriminator": object{"propertyName": "type", "mapping": mapping},
	}
}

// entrySchemas returns the schema of an entry of one of the kinds, which are separated by commas.
func entrySchemas(kinds string) object {
	var all []object
	for kind := range strings.SplitSeq(kinds, ",") {
		all = append(all, ref("schemas", entrySchema(kind)))
	}
	if len(all) == 1 {
		return all[0]
	}
	return object{"oneOf": all}
}

// eventSchema returns the name of the schema of events of a kind, such as PacketSentEvent.
func eventSchema(kind string) string {
	return strings.TrimSuffix(entrySchema(strings.ReplaceAll(kind, ".", "_")), "Entry") + "Event"
}
