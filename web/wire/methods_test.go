package wire_test

import (
	"slices"
	"testing"

	"hongbao/web/wire"
)

// TestEveryCodeIsUsed: every code belongs to a command, and no command returns a code of the envelope alone.
func TestEveryCodeIsUsed(t *testing.T) {
	used := map[wire.Code]bool{wire.CodeAlreadySubscribed: true, wire.CodeNotAvailable: true}
	for _, code := range slices.Concat(wire.Always, wire.OverHTTP) {
		used[code] = true
	}
	for _, m := range methods() {
		for _, code := range m.Errors {
			if code == wire.CodeAlreadySubscribed || code == wire.CodeNotAvailable || code.Word() == "" {
				t.Errorf("%s answers with %d", m.Name, code)
			}
			used[code] = true
		}
	}
	for _, code := range wire.Codes() {
		if !used[code] {
			t.Errorf("no command answers with %d %s", code, code.Word())
		}
	}
}

func methods() []wire.Method {
	all := slices.Clone(wire.Methods)
	for _, e := range wire.Endpoints {
		all = append(all, e.Method)
	}
	return all
}
