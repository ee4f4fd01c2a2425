package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// object is a JSON object of a document.
type object = map[string]any

// document serves what was made once, at the start. Whoever has it already is told so.
func document(content object) http.HandlerFunc {
	body := marshal(content)
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache") // a new version is seen at once
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
}

// info heads both documents. They tell of the same protocol, each the way that it is for.
func info(version, description string) object {
	return object{"title": "hongbao", "version": cmp.Or(version, "dev"), "description": description}
}

func ref(section, name string) object { return object{"$ref": "#/components/" + section + "/" + name} }

// record is the schema of an object of the envelope that holds these properties; those named are always there.
func record(properties object, required ...string) object {
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
