// Package strict decodes the data of requests: one JSON object into one struct, and every field as its tags demand. A request that
// breaks a rule is refused with an Error, which names the field. No value is guessed, rounded or converted to another type.
package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"hongbao/web/wire/internal/scan"
)

// MaxInt is the largest absolute value of an integer on the wire. A JSON parser that stores numbers as
// float64 holds it exactly.
const MaxInt = 1<<53 - 1

// Error says what is invalid in a request. Field is the field's name on the wire, or "data" for the whole request.
type Error struct {
	Field  string
	Reason string
}

func (e *Error) Error() string { return e.Field + " " + e.Reason }

// Decode decodes the data of a request into a struct pointer, as the struct's tags say:
//
//   - json names the field. With omitempty the field is optional. Without, it is required, and a string must not be empty.
//   - min is the least integer allowed.
//
// A string in a list must not be empty. The tag enum is not checked here: it is for the specification.
//
// No data and null stand for {}. null as the value of a field is refused. Unknown fields are ignored, names match exactly, and
// of a repeated name the last one counts. U+0000 is refused everywhere. Any error is an *Error.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return &Error{"data", "is not UTF-8"}
	}
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	var few [maxFields]json.RawMessage
	raws := few[:len(fields)]
	if !split(data, fields, raws) {
		return &Error{"data", "is not a JSON object"}
	}
	for i := range fields {
		if err := fields[i].decode(raws[i], v.Field(i)); err != nil {
			return err
		}
	}
	if holdsNUL(data) { // U+0000 is in a name or in an unknown field
		return &Error{"data", "holds U+0000"}
	}
	return nil
}

// split finds the raw values of an object's fields, nil if missing. It returns false unless data is an object, null or empty.
func split(data []byte, fields []field, raws []json.RawMessage) bool {
	if len(data) == 0 || splitPlain(data, fields, raws) {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return false
	}
	for i := range fields {
		raws[i] = members[fields[i].name]
	}
	return true
}

func splitPlain(data []byte, fields []field, raws []json.RawMessage) bool {
	s := scan.New(data)
	return s.Object(func(name []byte) bool {
		raw, ok := s.Value()
		for i := range fields {
			if fields[i].name == string(name) {
				raws[i] = raw
			}
		}
		return ok
	}) && s.AtEnd()
}

// decode decodes raw into v, the value of the field. raw is nil if the request does not have the field.
func (f *field) decode(raw json.RawMessage, v reflect.Value) error {
	switch {
	case raw == nil && f.optional:
		return nil
	case raw == nil:
		return &Error{f.name, "is missing"}
	case holdsNUL(raw):
		return &Error{f.name, "holds U+0000"}
	}
	if reason := decodeValue(raw, f.least, v); reason != "" {
		return &Error{f.name, reason}
	}
	if !f.optional && v.Kind() == reflect.String && v.Len() == 0 {
		return &Error{f.name, "is empty"}
	}
	return nil
}

// decodeValue decodes raw into v. It returns why raw is invalid, or "".
func decodeValue(raw json.RawMessage, least int64, v reflect.Value) (reason string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, least, v.Elem())
	case reflect.String:
		text, ok := decodeString(raw)
		if !ok {
			return "is not a string"
		}
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64) // raw is valid JSON, so only the literal of a whole number can be parsed
		switch {
		case err != nil:
			return "is not an integer in range"
		case n > MaxInt || n < least:
			return "is out of range"
		}
		v.SetInt(n)
	case reflect.Bool:
		if string(raw) != "true" && string(raw) != "false" {
			return "is not true or false"
		}
		v.SetBool(raw[0] == 't')
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			return decodeObject(raw, v)
		case v.Type().Elem().Kind() == reflect.Struct:
			return decodeStructs(raw, v)
		}
		return decodeStrings(raw, v)
	default:
		panic("strict: no decoder for " + v.Type().String())
	}
	return ""
}

func decodeString(raw json.RawMessage) (text string, ok bool) {
	switch {
	case raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), true
	}
	var unescaped string // declared only here: Unmarshal moves it to the heap, and most strings do not come this far
	err := json.Unmarshal(raw, &unescaped)
	return unescaped, err == nil
}

// decodeObject checks that raw is an object and stores it without insignificant space.
func decodeObject(raw json.RawMessage, v reflect.Value) (reason string) {
	var compact bytes.Buffer
	if raw[0] != '{' || json.Compact(&compact, raw) != nil {
		return "is not an object"
	}
	v.SetBytes(compact.Bytes())
	return ""
}

// decodeStrings decodes a list of non-empty strings.
func decodeStrings(raw json.RawMessage, v reflect.Value) (reason string) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return "is not a list"
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if reason := decodeValue(item, 0, list.Index(i)); reason != "" {
			return "holds what " + reason
		}
		if list.Index(i).Len() == 0 {
			return "holds an empty string"
		}
	}
	v.Set(list)
	return ""
}

// decodeStructs decodes a list of objects, each as Decode decodes a request.
func decodeStructs(raw json.RawMessage, v reflect.Value) (reason string) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return "is not a list"
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if string(item) == "null" {
			return "holds null at " + strconv.Itoa(i)
		}
		if err := Decode(item, list.Index(i).Addr().Interface()); err != nil {
			return "holds at " + strconv.Itoa(i) + " an object whose " + err.Error()
		}
	}
	v.Set(list)
	return ""
}

// holdsNUL reports whether a string in a valid JSON document contains U+0000, which must be written as an escape there. It reads
// each byte once after a first look, which spares most documents the second.
func holdsNUL(doc []byte) bool {
	escape := []byte(`\u0000`)
	if !bytes.Contains(doc, escape) {
		return false
	}
	for i := bytes.IndexByte(doc, '\\'); i >= 0; i = bytes.IndexByte(doc, '\\') {
		if bytes.HasPrefix(doc[i:], escape) {
			return true
		}
		doc = doc[i+2:] // skips any other escape; `\\` must not be taken for the start of one
	}
	return false
}

// field describes a field of a request type, from its tags; see Decode.
type field struct {
	name     string
	optional bool
	least    int64 // smallest allowed integer
}

// maxFields is the largest number of fields that a request type may have: Decode panics if there are more.
const maxFields = 32

var knownFields sync.Map // the []field of each request type, by reflect.Type

// fieldsOf returns the fields of a request's struct, in order.
func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[i] = field{name: name, optional: option == "omitempty", least: leastOf(f.Tag.Get("min"))}
	}
	knownFields.Store(t, fields)
	return fields
}

func leastOf(tag string) int64 {
	if tag == "" {
		return -MaxInt
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("strict: bad min tag " + tag)
	}
	return n
}
