// Package wire owns what clients and server send to each other over the socket and over HTTP: the payloads as Go types, the
// encoding of replies and pushes, the error codes and the close codes. Package frame decodes the frames of clients, package strict
// the data of requests. Package hostapi has the payloads of the server API. web/docs/protocol describes the protocol. Golden frames
// of both encodings are in testdata.
//
// Methods, Kinds, Codes and Message are the tables from which the documents and the SDKs are generated (package spec). The tag doc of a
// field has what the pages say of it, with code in single quotes, because a tag cannot hold back quotes.
//
// The envelope is the Centrifugo client protocol with the types of its own Go module. The data inside the envelope is JSON in both
// encodings. It must always hold:
//
//   - Optional fields are left out, never null. All others are always present, lists as [] when empty.
//   - Numbers in the data are integer literals of at most 2^53-1. Any other number in a known field of a request is refused, except
//     within an object of the integrator (data). The data of a connect command is not checked in this way.
//   - An encoder returns one message without delimiter, and a JSON message contains no newline. The caller adds "\n" between
//     JSON messages, and the length before Protobuf ones.
//   - The package imports neither chat, redpacket nor the hub, so that a client that needs only these types links no code of
//     the server.
package wire
