package session

import (
	"testing"

	"hongbao/store/enginetest"
)

// TestConnectDataIsLinear decodes long data of connect commands. The work must grow in proportion to the data.
func TestConnectDataIsLinear(t *testing.T) {
	for name, form := range map[string][2]string{"whole": {``, ``}, "string": {`{"rooms":1,"x":"`, `"}`}, "fields": {`{`, `"rooms":1}`}} {
		enginetest.Linear(t, name, func(text string) { askedRooms([]byte(form[0] + text + form[1])) })
	}
}
