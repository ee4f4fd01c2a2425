package api

import (
	"cmp"
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
	for _, e := range wire.Endpoints {
		all[e.Name] = e.Method
	}
	for _, m := range all {
		if once := slices.Compact(slices.Sorted(slices.Values(m.Errors))); len(once) != len(m.Errors) || m.Does == "" {
			t.Errorf("%s: errors %v are not unique, or it has no description: %q", m.Name, m.Errors, m.Does)
		}
		if _, limited := userRates[m.Rate]; m.Rate != "" && (!limited || m.Rate != cmp.Or(sharedRate[m.Name], m.Name)) {
			t.Errorf("%s counts for the rate %q", m.Name, m.Rate)
		}
	}
	for name := range userRates {
		if all[name].Rate != name {
			t.Errorf("%s is limited, and the table does not say so", name)
		}
	}
}

// TestOverlaps checks that only grab and commands that change nothing may run concurrently with others of their
// connection.
func TestOverlaps(t *testing.T) {
	for method, want := range map[string]bool{
		"create_room": false, "join": false, "leave": false, "send": false, "read": false, "send_packet": false, "cancel_packet": false,
		"direct": false, "invite": false, "kick": false, "unban": false, "set_role": false, "mute": false, "update_room": false,
		"delete_room": false, "edit": false, "recall": false, "react": false, "presence": true,
		"create_link": false, "links": true, "revoke_link": false, "join_link": false,
		"join_requests": true, "answer_request": false,
		"block": false, "unblock": false, "set_contact": false, "contacts": true, "users": true, "set_room_prefs": false, "report": false,
		"push_key": true, "subscribe_push": false, "unsubscribe_push": false,
		"grab": true, "rooms": true, "find_rooms": true, "members": true, "history": true, "mentions": true, "packet": true, "packets": true, "wallet": true,
		"no_such_command": false,
	} {
		r := NewRequest(method, nil)
		if got := r.Overlaps(); got != want {
			t.Errorf("%s: overlaps %t, want %t", method, got, want)
		}
	}
}
