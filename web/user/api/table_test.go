package api

import (
	"reflect"
	"slices"
	"testing"

	"hongbao/web/wire"
)

// TestCommandsAreInTheTable compares the methods that Commands answers with the table of package wire, from which the
// documents are generated. Both must have the same methods and types.
func TestCommandsAreInTheTable(t *testing.T) {
	all := map[string]wire.Method{}
	for _, m := range wire.Methods {
		all[m.Name] = m
		if commands[m.Name] == nil {
			t.Errorf("%s is not answered", m.Name)
		}
	}
	for name, command := range commands {
		call := reflect.TypeOf(command.new()).Elem()
		request, _ := call.FieldByName("request")
		reply, _ := call.FieldByName("reply")
		m, ok := all[name]
		switch {
		case !ok:
			t.Errorf("%s is not in the table", name)
		case reflect.TypeOf(m.Reply) != reply.Type, reflect.TypeOf(m.Request) != request.Type:
			t.Errorf("%s takes %v and returns %v, the table says %T and %T", name, request.Type, reply.Type, m.Request, m.Reply)
		}
	}
	for _, m := range wire.Methods {
		if (m.Rate == "") != (m.Cost > 0) {
			t.Errorf("%s: rate %q and cost %d, want one of them", m.Name, m.Rate, m.Cost)
		}
	}
	for _, e := range wire.Endpoints {
		all[e.Name] = e.Method
	}
	for _, m := range all {
		if once := slices.Compact(slices.Sorted(slices.Values(m.Errors))); len(once) != len(m.Errors) || m.Does == "" {
			t.Errorf("%s: errors %v are not unique, or it has no description: %q", m.Name, m.Errors, m.Does)
		}
		if limited := userRates[m.Name].name; m.Rate != limited {
			t.Errorf("%s counts against the rate %q, which is not in wire.Rates", m.Name, m.Rate)
		}
	}
	for _, r := range wire.Rates {
		if all[r.Name].Rate != r.Name {
			t.Errorf("the rate %s is not that of the command %[1]s", r.Name)
		}
	}
}

// TestOverlaps checks that only grab and commands that change nothing may run concurrently with others of their
// connection.
func TestOverlaps(t *testing.T) {
	for _, m := range wire.Methods {
		r := NewRequest(m.Name, nil)
		if got, want := r.Overlaps(), m.AsUser == wire.ScopeRead || m.Name == MethodGrab; got != want {
			t.Errorf("%s: overlaps %t, want %t, as its scope is %s", m.Name, got, want, m.AsUser)
		}
	}
	if r := NewRequest("no_such_command", nil); r.Overlaps() {
		t.Error("a command that does not exist overlaps")
	}
}
