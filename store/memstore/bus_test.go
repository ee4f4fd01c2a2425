package memstore

import (
	"testing"

	"hongbao/hub"
	"hongbao/store/storetest"
)

func TestBus(t *testing.T) {
	storetest.TestBus(t, func(*testing.T) (a, b hub.Bus) {
		broker := NewBroker()
		return broker.Endpoint(), broker.Endpoint()
	})
}
