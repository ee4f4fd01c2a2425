// Package spec holds the machine-readable descriptions of the interfaces: OpenAPI for HTTP, AsyncAPI for the socket. The
// files openapi.json and asyncapi.json are generated from the tables and types of package wire. server-openapi.json and
// server-asyncapi.json describe the server API and the events of the webhook; they are generated from package hostapi.
//
// It must always hold:
//
//   - The files are what the generator writes: a test fails when they differ.
//   - Every golden frame of package wire matches the AsyncAPI document. Package strict accepts the smallest request of each
//     command and endpoint that the OpenAPI document allows, and refuses it without any one of its fields.
//   - Every operation and every kind of event is in the documents of the server API. A test of package server sends the example of
//     each operation to a live listener, and the answers match the documents.
//
// The generator also writes the calls of both SDKs, and parts of the protocol pages. After a change in package wire, package hostapi, the
// generator or the examples that it reads, run:
//
//	go generate ./web/...
package spec

//go:generate go run ./generate
