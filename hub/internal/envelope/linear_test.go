package envelope

import (
	"encoding/binary"
	"testing"

	"hongbao/store/enginetest"
)

// TestParseIsLinear parses long payloads of the bus. The work must grow in proportion to the payload.
func TestParseIsLinear(t *testing.T) {
	enginetest.Linear(t, "topic", func(text string) {
		_, _ = Parse(append(binary.AppendUvarint([]byte{final, 1}, uint64(len(text)+1)), separator+text...))
	})
}
