package model

import (
	"encoding/json"
	"reflect"
	"testing"

	"hongbao/web/wire"
)

// TestEveryKindIsKnown decodes an entry of each kind. Each must have a type of its own.
func TestEveryKindIsKnown(t *testing.T) {
	seen := map[reflect.Type]string{reflect.TypeFor[Other](): "an unknown kind"}
	for _, k := range wire.Kinds {
		body := reflect.TypeOf(bodyOf(k.Kind, json.RawMessage(`{}`)))
		if seen[body] != "" {
			t.Errorf("the kind %s reads as %v, as %s: add a type to entry.go, and a row to bodies", k.Kind, body, seen[body])
		}
		seen[body] = k.Kind
	}
	if body := bodyOf("poll", json.RawMessage(`{}`)); !reflect.DeepEqual(body, Other{Raw: json.RawMessage(`{}`)}) {
		t.Errorf("an unknown kind reads %#v", body)
	}
}

// TestEveryPushIsAnEvent converts each push that has a name in the SDKs. Each must have a type of its own.
func TestEveryPushIsAnEvent(t *testing.T) {
	seen := map[reflect.Type]string{reflect.TypeFor[OtherEvent](): "an unknown push"}
	for i, p := range wire.Pushes() {
		if p.Event == "" {
			continue
		}
		var m wire.Message
		field := reflect.ValueOf(&m).Elem().Field(i)
		field.Set(reflect.New(field.Type().Elem()))
		event := reflect.TypeOf(EventOf(m, nil))
		if seen[event] != "" {
			t.Errorf("the push %s reads as %v, as %s: add a type to events.go, and a case to EventOf", p.Name, event, seen[event])
		}
		seen[event] = p.Name
	}
}
