package envelope

import (
	"encoding/binary"
	"testing"

	"hongbao/store/enginetest"
)

// TestParseIsLinear parses long payloads of the bus. The work must grow in proportion to the payload.
func TestParseIsLinear(t *testing.T) {
	enginetest.Linear(t, "epoch", func(text string) {
		_, _ = Parse(append(binary.AppendUvarint([]byte{message, 1}, uint64(len(text))), text...))
	})
}
