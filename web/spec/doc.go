// Package spec holds the machine-readable descriptions of the interface: OpenAPI for HTTP, AsyncAPI for the socket. The
// files openapi.json and asyncapi.json are generated from the tables and types of package wire.
//
// It must always hold:
//
//   - The files are what the generator writes: a test fails when they differ.
//   - Every golden frame of package wire matches the AsyncAPI document. Package wire accepts the smallest request of each
//     command that the OpenAPI document allows, and refuses it without any one of its fields.
//
// After a change in package wire or in the generator, run:
//
//	go generate ./web/...
package spec

//go:generate go run ./generate
