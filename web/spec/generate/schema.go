package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// schemas holds the JSON Schemas of the types of packages wire and hostapi, by name. The documents refer to them.
type schemas map[string]object

// of returns the schema of the value's type, in the form in which package strict reads it and package wire writes it. For a struct,
// and for wire.Code, it adds the schema to the map and returns a reference.
func (all schemas) of(v any) object { return all.ofType(reflect.TypeOf(v)) }

func (all schemas) ofType(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[wire.Code]():
		all["Code"] = codeSchema()
		return ref("schemas", "Code")
	case t == reflect.TypeFor[json.RawMessage]():
		return object{"type": "object", "additionalProperties": true} // generators of clients take an object without it for one without fields
	case t == reflect.TypeFor[hostapi.Event]():
		if _, ok := all["Event"]; !ok {
			all["Event"] = all.event()
		}
		return ref("schemas", "Event")
	case t == reflect.TypeFor[wire.Entry]():
		if _, ok := all["Entry"]; !ok {
			all["Entry"] = all.entry()
		}
		return ref("schemas", "Entry")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return all.ofType(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "minimum": -strict.MaxInt, "maximum": strict.MaxInt}
	case reflect.Uint32:
		return object{"type": "integer", "minimum": 0, "maximum": math.MaxUint32}
	case reflect.Slice:
		return object{"type": "array", "items": all.ofType(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": all.ofType(t.Elem())}
	case reflect.Struct:
		name := schemaName(t)
		if _, ok := all[name]; !ok {
			all[name] = all.ofStruct(t)
		}
		return ref("schemas", name)
	}
	panic("generate: no schema for type " + t.String())
}

// schemaName returns the name of a type's schema. A type of package hostapi gets the prefix Host if wireNames has its name.
func schemaName(t reflect.Type) string {
	if t.PkgPath() == reflect.TypeFor[hostapi.Event]().PkgPath() && wireNames()[t.Name()] != nil {
		return "Host" + t.Name()
	}
	return t.Name()
}

// wireNames returns the schemas of the types that Methods, the replies of Endpoints, and entries use.
func wireNames() schemas {
	all := schemas{}
	for _, m := range wire.Methods {
		all.of(m.Request)
		all.of(m.Reply)
	}
	for _, e := range wire.Endpoints {
		all.of(e.Reply)
	}
	all.of(wire.Entry{})
	return all
}

func (all schemas) ofStruct(t reflect.Type) object {
	properties, required := object{}, []string(nil)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous { // VisibleFields lists its fields as well
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		property := all.ofType(f.Type)
		constrain(property, f.Tag, strings.HasSuffix(t.Name(), "Request"), option == "omitempty")
		properties[name] = property
		if option == "" {
			required = append(required, name)
		}
	}
	return record(properties, required...)
}

// constrain adds to a property the constraints in the field's tags. In a request, "" is allowed only if the string is
// optional.
func constrain(property object, tag reflect.StructTag, request, optional bool) {
	if least, ok := tag.Lookup("min"); ok {
		n, err := strconv.Atoi(least)
		if err != nil {
			panic("generate: min tag is not a number: " + least)
		}
		property["minimum"] = n
	}
	values, ok := tag.Lookup("enum")
	switch {
	case ok && request && optional:
		property["enum"] = strings.Split(values+",", ",")
	case ok:
		property["enum"] = strings.Split(values, ",")
	case request && !optional && property["type"] == "string":
		property["minLength"] = 1
	case request && property["type"] == "array" && isText(property["items"]):
		property["items"] = object{"type": "string", "minLength": 1}
	}
}

// isText reports whether the schema is that of a string.
func isText(schema any) bool {
	o, _ := schema.(object)
	return o["type"] == "string"
}

// entry returns the schema of an entry: one of the schemas of its kinds, each of which is complete. So a generated type of an entry is a
// union, from which a program selects by the kind.
func (all schemas) entry() object {
	var kinds []object
	mapping := object{}
	for _, k := range wire.Kinds {
		schema := all.ofStruct(reflect.TypeFor[wire.Entry]())
		properties, _ := schema["properties"].(object)
		properties["kind"], properties["body"] = object{"type": "string", "const": k.Kind}, all.of(k.Body)
		all[entrySchema(k.Kind)] = schema
		kinds = append(kinds, ref("schemas", entrySchema(k.Kind)))
		mapping[k.Kind] = "#/components/schemas/" + entrySchema(k.Kind)
	}
	return object{
		"description":   "One element in the numbered log of a room. Ignore entries of kinds that you do not know.",
		"oneOf":         kinds,
		"discriminator": object{"propertyName": "kind", "mapping": mapping},
	}
}

// entrySchema returns the name of the schema of entries of a kind, such as PacketDoneEntry.
func entrySchema(kind string) string {
	var name strings.Builder
	for part := range strings.SplitSeq(kind, "_") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String() + "Entry"
}

// codeSchema returns the schema of error codes, with the word of each.
func codeSchema() object {
	var codes []object
	for _, c := range wire.Codes() {
		words := c.Word()
		if c.Temporary() {
			words += " (temporary: the same request again may succeed)"
		}
		codes = append(codes, object{"const": c, "title": c.Word(), "description": words})
	}
	return object{"type": "integer", "oneOf": codes}
}

// closeCodes returns the close codes of package wire, with their reasons, and whether clients reconnect.
func closeCodes() (closes []object) {
	for _, c := range wire.Closes() {
		closes = append(closes, object{"code": c.Code, "reason": c.Reason, "reconnect": c.Code < 3500})
	}
	return closes
}

// info returns the head of a document. Its version is empty: package spec sets it in each document that is served.
func info(description string) object {
	return object{
		"title": "hongbao", "version": "", "description": description,
		"contact": object{"name": "The operator of this server"},
		"license": object{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
	}
}

func ref(section, name string) object { return object{"$ref": "#/components/" + section + "/" + name} }

// record returns the schema of an object with these properties. required names those that must be present.
func record(properties object, required ...string) object {
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
