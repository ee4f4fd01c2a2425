package spec

import (
	"bytes"
	"cmp"
	_ "embed" // the documents
	"encoding/json"
)

var (
	//go:embed openapi.json
	openAPI []byte

	//go:embed asyncapi.json
	asyncAPI []byte

	//go:embed server-openapi.json
	serverOpenAPI []byte

	//go:embed server-asyncapi.json
	serverAsyncAPI []byte
)

// OpenAPI returns the description of the HTTP interface, as JSON on one line. An empty version becomes "dev".
func OpenAPI(version string) []byte { return withVersion(openAPI, version) }

// AsyncAPI returns the description of the socket interface, as JSON on one line. An empty version becomes "dev".
func AsyncAPI(version string) []byte { return withVersion(asyncAPI, version) }

// ServerOpenAPI returns the description of the server API, as JSON on one line. An empty version becomes "dev".
func ServerOpenAPI(version string) []byte { return withVersion(serverOpenAPI, version) }

// ServerAsyncAPI returns the description of what the webhook of a host receives, as JSON on one line. An empty version becomes "dev".
func ServerAsyncAPI(version string) []byte { return withVersion(serverAsyncAPI, version) }

// withVersion returns a document with info.version set, which is empty in the generated files.
func withVersion(document []byte, version string) []byte {
	var all, info map[string]json.RawMessage
	decode(document, &all)
	decode(all["info"], &info)
	info["version"] = encode(cmp.Or(version, "dev"))
	all["info"] = encode(info)
	return encode(all)
}

// decode parses an embedded document. It panics if the document is malformed, which TestFilesAreCurrent would have
// found.
func decode(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic("spec: embedded document: " + err.Error())
	}
}

func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("spec: embedded document: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
