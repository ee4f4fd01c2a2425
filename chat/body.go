package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Body encodes v as the body of an entry; the type of v belongs to the entry's kind. It does not escape HTML: a body
// is never part of a page's source, and escapes would only make it longer.
func Body(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("make body: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
