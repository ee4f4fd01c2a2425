package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Body makes an entry's body of v, the value that belongs to its kind. HTML is left alone: a body is never
// part of a page's source, and escapes would only make it longer.
func Body(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("make body: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
