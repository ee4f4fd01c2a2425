package wire

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// field describes a field of a request type, from its tags; see Decode.
type field struct {
	name     string
	optional bool
	least    int64 // smallest allowed integer
}

// maxFields is the largest number of fields of a request.
const maxFields = 12

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
		panic("wire: bad min tag " + tag)
	}
	return n
}
