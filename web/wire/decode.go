package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
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
	var fields map[string]json.RawMessage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &fields); err != nil {
			return &FieldError{"data", "is not a JSON object"}
		}
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if err := decodeField(fields, v.Type().Field(i), v.Field(i)); err != nil {
			return err
		}
	}
	if holdsNUL(data) { // in a name, or in a field that nobody knows
		return &FieldError{"data", "holds U+0000"}
	}
	return nil
}

func decodeField(fields map[string]json.RawMessage, f reflect.StructField, v reflect.Value) error {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	raw, ok := fields[name]
	switch {
	case !ok && option == "omitempty":
		return nil
	case !ok:
		return &FieldError{name, "is missing"}
	case holdsNUL(raw):
		return &FieldError{name, "holds U+0000"}
	}
	if reason := decodeValue(raw, f.Tag.Get("min"), v); reason != "" {
		return &FieldError{name, reason}
	}
	if option == "" && v.Kind() == reflect.String && v.Len() == 0 {
		return &FieldError{name, "is empty"}
	}
	return nil
}

// decodeValue sets v, or says why it cannot.
func decodeValue(raw json.RawMessage, least string, v reflect.Value) (reason string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, least, v.Elem())
	case reflect.String:
		if raw[0] != '"' || json.Unmarshal(raw, v.Addr().Interface()) != nil {
			return "is not a string"
		}
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64) // in valid JSON only a whole number's literal parses
		switch {
		case err != nil:
			return "is not an integer in range"
		case n > MaxInt || n < -MaxInt || least != "" && n < leastInt(least):
			return "is out of range"
		}
		v.SetInt(n)
	case reflect.Bool:
		if json.Unmarshal(raw, v.Addr().Interface()) != nil || raw[0] == 'n' {
			return "is not true or false"
		}
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
		if reason := decodeValue(item, "", list.Index(i)); reason != "" {
			return "holds what " + reason
		}
		if list.Index(i).Len() == 0 {
			return "holds an empty string"
		}
	}
	v.Set(list)
	return ""
}

func leastInt(tag string) int64 {
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("wire: bad min tag " + tag)
	}
	return n
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
