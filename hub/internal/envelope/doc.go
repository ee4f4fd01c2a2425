// Package envelope owns the format of the payloads that hubs exchange over the bus.
//
// A payload begins with one byte, its kind. A message then has its seq as uvarint. A message with a final topic then has
// the length of that topic as uvarint, and the topic. The data follows, up to the end of the payload.
//
// It must always hold:
//
//   - Parse of the bytes that Encode has returned gives the same envelope. A malformed payload is an error, never a panic.
//   - The bytes of a kind never change: instances of two versions share a bus during an upgrade.
//
// The package starts no goroutine and has no state.
package envelope
