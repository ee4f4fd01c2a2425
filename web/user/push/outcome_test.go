package push

import (
	"slices"
	"testing"

	"hongbao/chat"
	"hongbao/hub"
)

// topicsOf is a Bus that keeps the topics of what is published.
type topicsOf struct {
	hub.Bus
	topics []string
}

func (b *topicsOf) Publish(topic string, _ []byte, _ hub.Rank) { b.topics = append(b.topics, topic) }

// TestUnknownOutcomeIsForTheHubs publishes that the outcome of a write into a room is unknown. It must go to the hubs of the other instances, and
// no client has a push for it.
func TestUnknownOutcomeIsForTheHubs(t *testing.T) {
	bus := &topicsOf{}
	NewPublisher(hub.New(hub.Options{Bus: bus, Encode: NewEncoder().Encode, Ping: Ping}), "node").ToRoom("hall", chat.OutcomeUnknown{})
	if want := []string{RoomTopic("hall")}; !slices.Equal(bus.topics, want) {
		t.Errorf("published to %q, want %q", bus.topics, want)
	}
}
