package eventlog_test

import (
	"encoding/base64"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/store/eventlog"
)

// TestCursorIsLinear parses long cursors. The work must grow in proportion to the cursor.
func TestCursorIsLinear(t *testing.T) {
	parse := func(text string) { _, _ = eventlog.ParseCursor(text) }
	enginetest.Linear(t, "text", parse)
	enginetest.Linear(t, "bytes", func(text string) { parse(base64.RawURLEncoding.EncodeToString([]byte("\x01\x01e" + text))) })
}
