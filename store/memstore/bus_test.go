package memstore

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"hongbao/hub"
	"hongbao/store/storetest"
)

func TestBus(t *testing.T) {
	storetest.TestBus(t, func(*testing.T) (a, b hub.Bus) {
		broker := NewBroker()
		return broker.Endpoint(), broker.Endpoint()
	})
}

// journal is a receiver that writes down what it is told.
type journal []string

func (j *journal) Receive(_ string, payload []byte) { *j = append(*j, string(payload[:5])) }
func (j *journal) Suspect()                         { *j = append(*j, "suspect") }
func (j *journal) Compare()                         { *j = append(*j, "compare") }
func (j *journal) Down(bool)                        {}

// TestSuspectComesFirst: what is published after a loss does not come before the loss is told.
func TestSuspectComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := NewBroker()
		a, b := broker.Endpoint(), broker.Endpoint()
		b.Subscribe("room")
		a.Publish("room", []byte("first"), hub.Kept)
		a.Publish("room", make([]byte, busQueueBytes), hub.Kept)
		a.Publish("room", []byte("third"), hub.Kept)
		ctx, cancel := context.WithCancel(t.Context())
		var got journal
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx, &got) }()
		synctest.Wait()
		a.Publish("room", []byte("later"), hub.Kept)
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if want := []string{"first", "suspect", "later"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
