package schemes_test

import (
	"context"
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/schemes"
)

// TestStartWithoutDatabase starts a scheme that stores nothing, many times: it is ready each time, and runs until it is stopped.
func TestStartWithoutDatabase(t *testing.T) {
	named := schemes.Named{Name: "alone", Make: func(schemes.Engines) (schemes.Scheme, error) { return schemes.NewLuaList(nil, nil), nil }}
	for range 1000 {
		process, err := named.Start(t.Context(), schemes.Engines{})
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// endsAtOnce is a scheme that ends without an error before it is ready.
type endsAtOnce struct{ *schemes.LuaList }

func (endsAtOnce) Run(context.Context) error { return nil }

func TestStartOfASchemeThatEndsAtOnce(t *testing.T) {
	named := schemes.Named{Name: "short", Make: func(schemes.Engines) (schemes.Scheme, error) {
		return endsAtOnce{schemes.NewLuaList(nil, nil)}, nil
	}}
	if process, err := named.Start(t.Context(), schemes.Engines{}); process != nil || err == nil || !strings.Contains(err.Error(), "short ended before it was ready") {
		t.Errorf("%v, %v; want an error that names the scheme", process, err)
	}
}
