package model

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestEveryKindIsKnown decodes an entry of each kind. Each must have a type of its own.
func TestEveryKindIsKnown(t *testing.T) {
	for kind, want := range map[string]Body{
		"text": Text{}, "packet": PacketBody{}, "packet_done": PacketDone{}, "member": MemberChanged{}, "edit": Edited{},
		"recall": Recalled{}, "react": Reacted{}, "room": RoomChanged{}, "poll": Other{Raw: json.RawMessage(`{}`)},
	} {
		if body := bodyOf(kind, json.RawMessage(`{}`)); !reflect.DeepEqual(body, want) {
			t.Errorf("%s reads %#v", kind, body)
		}
	}
}
