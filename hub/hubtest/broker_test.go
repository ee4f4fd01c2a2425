package hubtest

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

// recorder is a receiver that records its calls.
type recorder []string

func (j *recorder) Receive(_ string, payload []byte) { *j = append(*j, string(payload[:5])) }
func (j *recorder) Forged(string)                    {}
func (j *recorder) Suspect()                         { *j = append(*j, "suspect") }
func (j *recorder) Compare()                         { *j = append(*j, "compare") }
func (j *recorder) Down(bool)                        {}

// TestSuspectComesFirst makes an endpoint lose a payload. Payloads published after the loss arrive after the Suspect.
func TestSuspectComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := NewBroker()
		a, b := broker.Endpoint(), broker.Endpoint()
		b.Subscribe("room")
		a.Publish("room", []byte("first"), hub.Kept)
		a.Publish("room", make([]byte, busQueueBytes), hub.Kept)
		a.Publish("room", []byte("third"), hub.Kept)
		ctx, cancel := context.WithCancel(t.Context())
		var got recorder
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
