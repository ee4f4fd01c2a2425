package hub

import "context"

// quiet is a Handler whose methods do nothing.
type quiet struct{}

func (quiet) Frame(bool, []byte) (flush bool, rest func()) { return false, nil }
func (quiet) Signal(string, []byte)                        {}
func (quiet) Idle() bool                                   { return true }
func (quiet) Closed()                                      {}

func quietOptions() Options {
	return Options{
		Encode:   func(_ Encoding, _ string, m Message) []byte { return m.Data },
		Ping:     func(Encoding) []byte { return []byte("{}") },
		Fetch:    func(context.Context, []Span) (map[string][]Message, error) { return nil, nil },
		LastSeqs: func(context.Context, []string) (map[string]int64, error) { return nil, nil },
	}
}
