// Package media makes the pictures anew that users upload, and recognises the recordings that are stored as they are. It owns which formats are accepted,
// how large a picture may be, and what is made of it.
//
// The following must always hold:
//   - No byte of an uploaded picture is stored. Picture returns what this package has encoded from pixels: without metadata, comments and trailing bytes.
//     PNG and GIF keep the exact colours that a client chose, so what serves them also sends X-Content-Type-Options: nosniff.
//   - The size of a picture is checked before its pixels are decoded. That size and the length of the upload bound the memory of a call.
//   - A call ends with the caller's context: decoders and encoders read and write through streams that fail when it ends. The time between two of
//     these questions is bounded by the size of the picture.
//   - No upload causes a panic.
package media
