package redisstore

import (
	"fmt"
	"strconv"
)

// reader decodes a reply item by item. The first unexpected item sets the error. All later items read as zero values.
type reader struct {
	items []any
	err   error
}

func (r *reader) more() bool { return r.err == nil && len(r.items) > 0 }

func (r *reader) next() any {
	if r.err != nil || len(r.items) == 0 {
		r.fail("nothing")
		return nil
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reader) fail(what any) {
	if r.err == nil {
		r.err = fmt.Errorf("unexpected reply: %v (%T)", what, what)
	}
}

func (r *reader) int() int {
	n, ok := r.next().(int64)
	if !ok {
		r.fail("no integer")
	}
	return int(n)
}

func (r *reader) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("no text")
	}
	return s
}

func (r *reader) list() []any {
	l, ok := r.next().([]any)
	if !ok {
		r.fail("no list")
	}
	return l
}

// number reads an integer that was sent as text.
func (r *reader) number() int {
	s := r.text()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.fail(s)
	}
	return n
}
