package wire

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// field is what the tags of a request's field say; see Decode.
type field struct {
	name     string
	optional bool
	least    int64 // of integers
}

// maxFields is how many fields a request has at most.
const maxFields = 12

var knownFields sync.Map // of []field by reflect.Type

// fieldsOf are the fields of a request's struct, in order.
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
