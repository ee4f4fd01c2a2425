package hub

import (
	"context"
	"errors"
)

// quiet is a Handler whose methods do nothing.
type quiet struct{}

func (quiet) Frame(bool, []byte) (flush bool, rest func()) { return false, nil }
func (quiet) Control() bool                                { return true }
func (quiet) Signal(string, []byte)                        {}
func (quiet) Idle() bool                                   { return true }
func (quiet) Closed(int, bool)                             {}

var errNoStore = errors.New("this hub has no store")

// quietOptions returns the options of a hub without a store. Its comparisons fail, so it never takes a topic for one
// whose messages the store has lost.
func quietOptions() Options {
	return Options{
		Encode:   func(_ Encoding, _ string, m Message) []byte { return m.Data },
		Ping:     func(Encoding) []byte { return []byte("{}") },
		Fetch:    func(context.Context, []Span) (map[string][]Message, error) { return nil, nil },
		LastSeqs: func(context.Context, []string) (map[string]int64, error) { return nil, errNoStore },
	}
}
