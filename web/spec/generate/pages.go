package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// pageParts returns the generated parts of the protocol pages and of server-api.md. Each golden frame is one, too, as an example.
func pageParts(frames map[string]json.RawMessage) map[string]part {
	parts := map[string]part{
		"commands":           {commandTable(), "docs/protocol/commands.md"},
		"rights":             {rightTable(), "docs/protocol/commands.md"},
		"rates":              {rateTable(), "docs/protocol/limits.md"},
		"costs":              {costTable(), "docs/protocol/limits.md"},
		"codes":              {codeTable(), "docs/protocol/errors.md"},
		"kinds":              {kindTable(), "docs/protocol/objects.md"},
		"closes":             {closeTable(), "docs/protocol/errors.md"},
		"commands of system": {systemTable(), "docs/server-api.md"},
	}
	for name, frame := range frames {
		parts[name] = part{text: "```json\n" + pretty(frame, "") + "\n```\n"}
	}
	for _, m := range wire.Methods {
		section, reply := "the section `"+m.Name+"` of docs/protocol/"+pageOf(m), "reply-"+m.Name
		parts["answers of "+m.Name] = part{answers(m), section}
		if reflect.TypeOf(m.Request).NumField() > 0 {
			parts["fields of "+m.Name] = part{fieldTable("request", m.Request), section}
		}
		parts[reply] = part{parts[reply].text, section}
	}
	for _, object := range []any{wire.User{}, wire.Room{}, wire.Entry{}, wire.Packet{}, wire.State{}} {
		name := reflect.TypeOf(object).Name()
		parts["fields of "+name] = part{fieldTable("field", object), "the section " + name + " of docs/protocol/objects.md"}
	}
	for _, p := range wire.Pushes() {
		section, push := "the section `"+p.Name+"` of docs/protocol/pushes.md", "push-"+p.Name
		parts["data of "+p.Name] = part{"Data: `" + p.Name + " " + shape(reflect.TypeOf(p.Data)) + "`.\n", section}
		parts[push] = part{parts[push].text, section}
	}
	return parts
}

// pretty returns an example with at most 150 characters in a line, if its texts are shorter. An object or list that is too long for the
// line has its fields on lines of their own, as many on each as fit.
func pretty(value json.RawMessage, indent string) string {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		panic(fmt.Sprintf("generate: example %s: %v", value, err))
	}
	if len(indent)+out.Len() <= 150 || !strings.ContainsAny(out.String()[:1], "{[") {
		return out.String()
	}
	d := json.NewDecoder(&out)
	begin, _ := d.Token() // the value is JSON: readFrame has decoded it
	lines := []string{""}
	for d.More() {
		item := ""
		if begin == json.Delim('{') {
			name, _ := d.Token()
			item = fmt.Sprintf("%q:", name)
		}
		var v json.RawMessage
		_ = d.Decode(&v)
		item += pretty(v, indent+"  ")
		if d.More() {
			item += ","
		}
		last := len(lines) - 1
		if lines[last] != "" && (strings.Contains(lines[last]+item, "\n") || len(indent)+len(lines[last])+len(item) > 148) {
			lines, last = append(lines, ""), last+1
		}
		lines[last] += item
	}
	end := map[json.Token]string{json.Delim('{'): "}", json.Delim('['): "]"}[begin]
	return fmt.Sprint(begin, "\n", indent, "  ") + strings.Join(lines, "\n"+indent+"  ") + "\n" + indent + end
}

// pageOf returns the page of web/docs/protocol that has the section of a command.
func pageOf(m wire.Method) string {
	i := slices.IndexFunc(wire.Groups, func(g wire.Group) bool { return g.Name == m.Group })
	return wire.Groups[i].Page
}

func commandTable() string {
	var rows [][]string
	for _, m := range wire.Methods {
		request, reply := withoutBraces(m.Request), cmp.Or(withoutBraces(m.Reply), "{}")
		rows = append(rows, []string{"[`" + m.Name + "`](" + pageOf(m) + "#" + m.Name + ")", code(request), code(reply)})
	}
	return table("method | request `data` | reply `data`", rows...)
}

// withoutBraces returns the fields of a value's type as the pages show them, such as room: Room, dup?.
func withoutBraces(v any) string {
	return strings.TrimSuffix(strings.TrimPrefix(shape(reflect.TypeOf(v)), "{"), "}")
}

// describedTypes are the types of wire that a page shows by their names, because objects.md describes them.
var describedTypes = map[reflect.Type]string{
	reflect.TypeFor[wire.User](): "User", reflect.TypeFor[wire.Room](): "Room", reflect.TypeFor[wire.MyRoom](): "Room",
	reflect.TypeFor[wire.Entry](): "Entry", reflect.TypeFor[wire.Packet](): "Packet", reflect.TypeFor[wire.State](): "State",
}

// shape returns the fields of a type as the pages show them, such as {room: Room, dup?}. For a type without fields of interest, such
// as a number, it returns "".
func shape(t reflect.Type) string {
	if name, ok := describedTypes[t]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shape(t.Elem())
	case reflect.Slice:
		if of := shape(t.Elem()); of != "" {
			return "[" + of + "]"
		}
	case reflect.Struct:
		fields := make([]string, 0, t.NumField())
		for f := range t.Fields() {
			name, of := fieldName(f), shape(f.Type)
			if name != "" && of != "" {
				name += ": "
			}
			fields = append(fields, name+of) // an embedded type has no name
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return ""
}

// fieldName returns the name of a field on the wire, with a question mark if it may be left out.
func fieldName(f reflect.StructField) string {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	if option == "omitempty" {
		name += "?"
	}
	return name
}

// code returns text in code font, and "" for "".
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codes(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, code(name))
	}
	return strings.Join(all, ", ")
}

// rightTable has a row for each right, in the order of its first command.
func rightTable() string {
	var rights []wire.Right
	of := map[wire.Right][]string{}
	for _, m := range wire.Methods {
		if of[m.Right] == nil {
			rights = append(rights, m.Right)
		}
		of[m.Right] = append(of[m.Right], m.Name)
	}
	var rows [][]string
	for _, r := range rights {
		rows = append(rows, []string{codes(of[r]), r.Who, r.Direct})
	}
	return table("command | allowed for, otherwise `forbidden` | in direct rooms", rows...)
}

// usualWords says what fields of requests are whose words are the same in most requests, unless their tag doc has others.
var usualWords = map[string]string{
	"room": "the room", "packet": "the packet", "user": "the user", "key": "see [keys](commands.md#put-a-key-on-what-you-create)",
	"next": "see [lists](commands.md#read-a-list-page-by-page)", "limit": "see [lists](commands.md#read-a-list-page-by-page)",
	"after_rank": "see [lists](commands.md#read-a-list-page-by-page)",
}

// fieldTable returns the fields of a request or an object with their words. Fields with the same words that follow each other share a
// row.
func fieldTable(head string, object any) string {
	var rows [][]string
	for f := range reflect.TypeOf(object).Fields() {
		words := cmp.Or(words(f), usualWords[strings.TrimSuffix(fieldName(f), "?")])
		if words == "" {
			panic(fmt.Sprintf("generate: %T.%s needs the tag doc, with what the page of the protocol says of it", object, f.Name))
		}
		if last := len(rows) - 1; last >= 0 && rows[last][1] == words {
			rows[last][0] += ", " + code(fieldName(f))
		} else {
			rows = append(rows, []string{code(fieldName(f)), words})
		}
	}
	return table(head+" |", rows...)
}

// inQuotes matches a word of code in the tag doc, which cannot hold a back quote.
var inQuotes = regexp.MustCompile(`(^|[ (])'([^']+)'`)

// words returns what the tag doc of a field says, as Markdown.
func words(f reflect.StructField) string {
	return inQuotes.ReplaceAllString(f.Tag.Get("doc"), "$1`$2`")
}

// answers returns the lines at the end of a command's section.
func answers(m wire.Method) string {
	var words []string
	for _, c := range m.Errors {
		words = append(words, c.Word())
	}
	lines := "Reply: " + cmp.Or(code(withoutBraces(m.Reply)), "empty") + ".\nErrors: " + cmp.Or(codes(words), "none of its own") + ".\n"
	if m.Rate != "" {
		lines += "Rate: `" + m.Rate + "`.\n"
	}
	return lines
}

func rateTable() string {
	var rows [][]string
	for _, r := range wire.Rates {
		var names []string
		for _, m := range wire.Methods {
			if m.Rate == r.Name {
				names = append(names, m.Name)
			}
		}
		what := codes(names)
		if len(names) > 1 {
			what += " together"
		}
		rows = append(rows, []string{what, strconv.FormatFloat(r.PerSecond, 'f', -1, 64), strconv.Itoa(r.Burst), r.Counted})
	}
	return table("command | a second | burst | counted", rows...)
}

func costTable() string {
	of := map[int][]string{}
	for _, m := range wire.Methods {
		if m.Cost > 0 {
			of[m.Cost] = append(of[m.Cost], m.Name)
		}
	}
	var rows [][]string
	for _, cost := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, []string{codes(of[cost]), strconv.Itoa(cost)})
	}
	rows = append(rows, []string{"`send_packet`, besides its rate", "1 for 25 shares"})
	return table("command | cost", rows...)
}

// codeTable leaves out the codes that answer only requests of the envelope.
func codeTable() string {
	var rows [][]string
	for _, c := range wire.Codes() {
		if c == wire.CodeAlreadySubscribed || c == wire.CodeNotAvailable {
			continue
		}
		number := strconv.Itoa(int(c))
		if c.Temporary() {
			number += " (t)"
		}
		rows = append(rows, []string{number, code(c.Word()), strconv.Itoa(c.Status()), c.Meaning()})
	}
	return table("code | word | HTTP | meaning", rows...)
}

func kindTable() string {
	var rows [][]string
	for _, k := range wire.Kinds {
		rows = append(rows, []string{code(k.Kind), code(shape(reflect.TypeOf(k.Body))), k.Means})
	}
	return table("kind | body |", rows...)
}

func closeTable() string {
	var rows [][]string
	for _, c := range wire.Closes() {
		rows = append(rows, []string{fmt.Sprintf("%d `%s`", c.Code, c.Reason), c.Meaning()})
	}
	return table("close | meaning", rows...)
}

// systemTable has the commands that the host may call in its own name, by scope.
func systemTable() string {
	of := map[wire.Scope][]string{}
	for _, m := range wire.Methods {
		of[m.AsSystem] = append(of[m.AsSystem], m.Name)
	}
	var rows [][]string
	for _, scope := range hostapi.Scopes() {
		if of[scope] != nil {
			rows = append(rows, []string{codes(of[scope]), code(string(scope))})
		}
	}
	return table("command | scope", rows...)
}
