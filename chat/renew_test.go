package chat_test

import (
	"testing"

	"hongbao/chat"
)

// TestRenewForgets changes the database without notice to the service, as a restored backup does. Before Renew the service
// answers from its cache, and after it from the database.
func TestRenewForgets(t *testing.T) {
	h := newTestService(t, chat.Options{})
	room := h.room(chat.Public, "ann", "bob")
	epoch, err := h.Epoch(h.ctx)
	h.must(err)
	if !h.standing(room, "bob").In {
		t.Fatal("bob is not in the room")
	}
	h.must(h.peer().Leave(h.ctx, person("bob"), room))
	h.Forget("deleted in the future", "")
	if !h.standing(room, "bob").In || !h.standing("deleted in the future", "bob").RoomDeleted {
		t.Fatal("the service did not answer from its cache")
	}

	h.Renew("another epoch")
	if h.standing(room, "bob").In || h.standing("deleted in the future", "bob").RoomDeleted {
		t.Error("the service remembers a standing that the database does not have")
	}
	now, err := h.Epoch(h.ctx)
	if err != nil || now != "another epoch" || epoch == now || h.Epochs() != 1 {
		t.Errorf("epoch %q after %q, %d changes, %v", now, epoch, h.Epochs(), err)
	}
	h.Renew("another epoch")
	if h.Epochs() != 1 {
		t.Errorf("%d changes of the epoch are counted, want 1", h.Epochs())
	}
}
