package hostapi

import (
	"slices"
	"testing"

	"hongbao/web/wire"
)

// TestEachCommandHasAScope checks that no command can be called for a user without a scope that somebody has decided.
func TestEachCommandHasAScope(t *testing.T) {
	for _, m := range wire.Methods {
		if !slices.Contains(Scopes(), m.AsUser) {
			t.Errorf("the command %s has the scope %q: set AsUser in wire.Methods, to ScopeMoney if it moves money", m.Name, m.AsUser)
		}
		if m.AsSystem != "" && !slices.Contains(Scopes(), m.AsSystem) {
			t.Errorf("the command %s has the scope %q for the system", m.Name, m.AsSystem)
		}
	}
}
