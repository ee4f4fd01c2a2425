package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// MaxInt is the largest integer on the wire, either way from 0: what every JSON reader can hold exactly.
const MaxInt = 1<<53 - 1

// FieldError says what is wrong with a request. The field is the name on the wire, or "data" for all of it.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

// Decode reads the data of a request into a struct pointer, as the struct's tags say:
//
//   - json names the field; with omitempty it is optional, else it must be there, and a string not be empty.
//   - min is the least integer allowed.
//
// No data and null stand for {}. Unknown fields are ignored, names match exactly, of a repeated name the
// last one counts. Any error is a *FieldError.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return &FieldError{"data", "is not UTF-8"}
	}
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	var few [maxFields]json.RawMessage
	raws := few[:len(fields)]
	if !split(data, fields, raws) {
		return &FieldError{"data", "is not a JSON object"}
	}
	for i := range fields {
		if err := fields[i].decode(raws[i], v.Field(i)); err != nil {
			return err
		}
	}
	if holdsNUL(data) { // in a name, or in a field that nobody knows
		return &FieldError{"data", "holds U+0000"}
	}
	return nil
}

// split finds the fields in an object; those that are not there are nil. False: it is none.
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
	s := scanner{text: data}
	return s.object(func(name []byte) bool {
		raw, ok := s.value(0)
		for i := range fields {
			if fields[i].name == string(name) {
				raws[i] = raw
			}
		}
		return ok
	}) && s.over()
}

// decode sets the field, which was not sent when raw is nil.
func (f *field) decode(raw json.RawMessage, v reflect.Value) error {
	switch {
	case raw == nil && f.optional:
		return nil
	case raw == nil:
		return &FieldError{f.name, "is missing"}
	case holdsNUL(raw):
		return &FieldError{f.name, "holds U+0000"}
	}
	if reason := decodeValue(raw, f.least, v); reason != "" {
		return &FieldError{f.name, reason}
	}
	if !f.optional && v.Kind() == reflect.String && v.Len() == 0 {
		return &FieldError{f.name, "is empty"}
	}
	return nil
}

// decodeValue sets v, or says why it cannot.
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
		n, err := strconv.ParseInt(string(raw), 10, 64) // in valid JSON only a whole number's literal parses
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
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return decodeObject(raw, v)
		}
		return decodeStrings(raw, v)
	default:
		panic("wire: no decoder for " + v.Type().String())
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
	var unescaped string // escapes to the heap, and so comes last
	err := json.Unmarshal(raw, &unescaped)
	return unescaped, err == nil
}

// decodeObject keeps an object as it is, without the space between its parts.
func decodeObject(raw json.RawMessage, v reflect.Value) (reason string) {
	var compact bytes.Buffer
	if raw[0] != '{' || json.Compact(&compact, raw) != nil {
		return "is not an object"
	}
	v.SetBytes(compact.Bytes())
	return ""
}

// decodeStrings reads a list of strings that are not empty.
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

// holdsNUL tells whether any string of a valid JSON document holds U+0000, which can stand there only as an escape.
func holdsNUL(doc []byte) bool {
	escape := []byte(`\u0000`)
	for bytes.Contains(doc, escape) {
		i := bytes.IndexByte(doc, '\\')
		if bytes.HasPrefix(doc[i:], escape) {
			return true
		}
		doc = doc[i+2:] // any other escape, of which `\\` is the one that matters
	}
	return false
}
