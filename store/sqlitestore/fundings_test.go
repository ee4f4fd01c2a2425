package sqlitestore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestFundings(t *testing.T) {
	storetest.TestFundings(t, func(t *testing.T) (redpacket.Fundings, storetest.EventsUnderTest) {
		_, s := openMeasured(t)
		return s, eventsOf(t, s)
	})
}
