package hostapi

import (
	"testing"

	"hongbao/web/wire"
)

// TestEachCommandHasAScope checks that no command can be called for a user without a scope that somebody has decided.
func TestEachCommandHasAScope(t *testing.T) {
	names := map[string]bool{}
	for _, m := range wire.Methods {
		names[m.Name] = true
		if scopes[m.Name] == "" {
			t.Errorf("the command %s has no scope: add it to scopes, as Money if it moves money", m.Name)
		}
	}
	for _, table := range []map[string]Scope{scopes, systemCommands} {
		for name := range table {
			if !names[name] {
				t.Errorf("%s has a scope, but is no command", name)
			}
		}
	}
}
