// Command generate writes what follows from the tables of packages wire (methods, endpoints, kinds, pushes, codes) and hostapi
// (operations, kinds of events), from the fields and tags of their types, and from examples:
//
//   - openapi.json and asyncapi.json, and server-openapi.json and server-asyncapi.json for the server API, in the folder of package
//     spec, which embeds them
//   - the parts of the protocol pages and of types.js that stand between the lines of a part (see partedFiles)
//   - generated.go of package client
//   - methods.js of the JavaScript SDK, and the calls that its test makes
//   - docs/verify.html, which checks proofs of packets without a server
//
// The examples are those of the protocol pages, the golden frames, the recorded answers of package server, the table of package
// hostapi, and endpointExamples. go generate runs the command in the folder of package spec.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// object is a JSON object of a document.
type object = map[string]any

// generated returns the generated files by their paths below the folder web. web is the path of that folder.
func generated(web string) (map[string][]byte, error) {
	examples, err := readExamples(web)
	if err != nil {
		return nil, err
	}
	parts := pageParts(examples.frames)
	parts["types"] = part{scriptTypes(), "page/static/sdk/types.js"}
	files, err := fillParts(web, parts)
	if err != nil {
		return nil, err
	}
	files["page/static/sdk/methods.js"] = []byte(scriptMethods())
	if files["client/generated.go"], err = clientCalls(); err != nil {
		return nil, fmt.Errorf("client/generated.go: %w", err)
	}
	if files["docs/verify.html"], err = checkerPage(web); err != nil {
		return nil, fmt.Errorf("docs/verify.html: %w", err)
	}
	files["testdata/sdk/requests.js"] = []byte(scriptRequests(examples))
	for name, content := range map[string]object{
		"openapi.json": withFailures(openAPI(examples)), "asyncapi.json": asyncAPI(examples),
		"server-openapi.json": withFailures(serverOpenAPI(examples)), "server-asyncapi.json": serverAsyncAPI(examples),
	} {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(content); err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		files["spec/"+name] = out.Bytes()
	}
	return files, nil
}

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write() error {
	files, err := generated("..")
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join("..", name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
