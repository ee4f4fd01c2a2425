package main

import (
	"reflect"
	"slices"
	"strings"

	"hongbao/web/wire"
)

// call describes how the SDKs offer a command.
type call struct {
	wire.Method

	request, reply reflect.Type
	keyed          bool // the request has a key, which the SDK draws if the caller gives none
	byFields       bool // each field of the request is an argument; otherwise the request is one
}

// callOf describes a command. The fields of a request are arguments if all of them are required, but for booleans, which are false
// by default. A request whose type has a name in the SDKs is always one argument.
func callOf(m wire.Method) call {
	c := call{Method: m, request: reflect.TypeOf(m.Request), reply: reflect.TypeOf(m.Reply)}
	c.byFields = namedRequests[c.request] == ""
	for f := range c.request.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "key" {
			c.keyed = true
		}
		if name == "key" || option == "omitempty" && f.Type.Kind() != reflect.Bool {
			c.byFields = false
		}
	}
	return c
}

// calls returns the calls of all commands but those that an SDK has by hand.
func calls(byHand map[string]string) (all []call) {
	for _, m := range wire.Methods {
		if byHand[m.Name] == "" {
			all = append(all, callOf(m))
		}
	}
	return all
}

// optional reports whether all fields of the request may be left out.
func (c call) optional() bool {
	return !slices.ContainsFunc(reflect.VisibleFields(c.request), func(f reflect.StructField) bool {
		return !strings.HasSuffix(f.Tag.Get("json"), ",omitempty")
	})
}

// namedRequests are the requests that have names of their own in the SDKs.
var namedRequests = map[reflect.Type]string{
	reflect.TypeFor[wire.CreateRoomRequest]():    "NewRoom",
	reflect.TypeFor[wire.SendRequest]():          "NewMessage",
	reflect.TypeFor[wire.SendPacketRequest]():    "NewPacket",
	reflect.TypeFor[wire.SubscribePushRequest](): "PushSubscriptionKeys",
}

// sentence returns what a call does as a sentence that begins with its name, and what callers should know.
func (c call) sentence(name string) string {
	text := name + " " + strings.ToLower(c.Does[:1]) + c.Does[1:]
	if c.Note != "" {
		text += " " + c.Note
	}
	if c.keyed {
		text += " The command is repeated until it is answered, and carried out once. Without a key, a random one is used."
	}
	return text
}

// camel returns a name of the wire in camel case, such as SetRole for set_role.
func camel(name string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		out.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return out.String()
}

// lowerCamel is camel with a small first letter, such as setRole.
func lowerCamel(name string) string {
	name = camel(name)
	return strings.ToLower(name[:1]) + name[1:]
}

// wrapped breaks a text into lines of a comment. Each begins with the prefix.
func wrapped(text, prefix string) string {
	var out strings.Builder
	line := prefix
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 130 {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = prefix
		}
		line += word + " "
	}
	return out.String() + strings.TrimRight(line, " ") + "\n"
}
