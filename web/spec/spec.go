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

// withVersion returns a document with info.version set, the only version that is empty in the generated files. It panics if the document is
// malformed, which TestFilesAreCurrent would have found.
func withVersion(document []byte, version string) []byte {
	text, err := json.Marshal(cmp.Or(version, "dev"))
	var out bytes.Buffer
	if err == nil {
		err = json.Compact(&out, bytes.Replace(document, []byte(`"version": ""`), append([]byte(`"version": `), text...), 1))
	}
	if err != nil {
		panic("spec: embedded document: " + err.Error())
	}
	return out.Bytes()
}
