// Package media decodes the pictures that users upload and makes them anew, and recognises the recordings that it lets through as they are.
//
// The following must always hold:
//   - No byte of an uploaded picture is stored. Picture returns what this package has encoded from pixels: no metadata, no comments, no trailing bytes.
//     A format without loss still shows the colours that a client chose, so a server also sends X-Content-Type-Options: nosniff.
//   - The size of a picture is checked before its pixels are decoded. Memory is bounded by that size, and never by what the upload says of itself.
//   - An upload that takes long ends with the caller's context: decoders and encoders read and write through streams that fail when it ends.
//     What lies between two reads takes time in proportion to the pixels at most.
//   - No upload can cause a panic.
package media
