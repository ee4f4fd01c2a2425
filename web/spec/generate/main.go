// Command generate writes openapi.json and asyncapi.json, and server-openapi.json and server-asyncapi.json for the server API,
// into the current directory. The documents are derived from the tables of packages wire (methods, endpoints, kinds, pushes,
// codes) and hostapi (operations, kinds of events), from the fields and tags of their types, and from examples: those of the
// protocol pages, the golden frames, the recorded answers of package server, the table of package hostapi, and endpointExamples.
//
// go generate runs it in the folder of package spec, which embeds the files.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// object is a JSON object of a document.
type object = map[string]any

// documents returns the generated files by name. web is the path of the folder web.
func documents(web string) (map[string][]byte, error) {
	examples, err := readExamples(web)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
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
		files[name] = out.Bytes()
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
	files, err := documents("..")
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
