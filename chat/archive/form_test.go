package archive

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzParse parses any line without a panic; what it accepts can be written and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"user","id":"a","custom":{"a":1}}`))
	f.Add([]byte(`{"type":"text","room":"r","id":"1","from":"a","at":1,"text":"t","reactions":{"👍":["a"]},"files":[{"path":"x"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		parsed, err := parse(line)
		if err != nil {
			return
		}
		first, err := json.Marshal(parsed)
		if err != nil {
			t.Fatalf("write %s: %v", line, err)
		}
		again, err := parse(first)
		if err != nil {
			t.Fatalf("parse %s again: %v", first, err)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
	})
}
