// Package wire owns what goes over the socket and over HTTP: the payloads as Go types, the decoding of
// frames and requests, the encoding of replies and pushes, the error codes and the close codes. Its text
// is PROTOCOL.md beside it; golden frames of both encodings are in testdata.
//
// The envelope is the Centrifugo client protocol with the types of its own Go module; what is in it is
// JSON in both encodings. It must always hold:
//
//   - Optional fields are left out, never null; all others are always there, lists as [] when empty.
//   - Money, seqs and times are integer literals of at most 2^53-1; any other number is refused.
//   - An encoder returns one message without delimiter, and a JSON message holds no newline: whoever
//     frames it adds "\n" between JSON messages and the length before Protobuf ones.
//   - Nothing here knows chat, redpacket or the hub: client SDKs import this package.
package wire
