package cursor_test

import (
	"encoding/base64"
	"testing"

	"hongbao/store/cursor"
	"hongbao/store/enginetest"
)

// TestParseIsLinear parses long cursors. The work must grow in proportion to the cursor.
func TestParseIsLinear(t *testing.T) {
	var at int64
	var id string
	parse := func(text string) { _ = cursor.Parse("l", text, &at, &id) }
	enginetest.Linear(t, "text", parse)
	for name, form := range map[string][2]string{"whole": {``, ``}, "string": {`["l",1,"`, `"]`}, "list": {`["l",1,`, `]`}} {
		enginetest.Linear(t, name, func(text string) { parse(base64.RawURLEncoding.EncodeToString([]byte(form[0] + text + form[1]))) })
	}
}
