// Package chain defines the hash chains that make a changed, added, removed or moved row visible. It computes hashes and
// knows no database: both SQL stores, the audit and the tests use it.
//
// A leaf is the hash of one row that never changes. A link is the hash of all leaves that one transaction has written, and
// of the link before it. So the newest link of a chain, its head, stands for every row of the chain. A copy of the head
// that is kept elsewhere is an anchor: after it was taken, no row that it stands for can change unseen.
//
// Texts and names can be erased without breaking a chain, because a leaf contains only their salted hash. The salt is
// stored beside the text, in a seal column. Erasing replaces the salt by the hash.
//
// Everything that is hashed is encoded like this:
//
//   - a number as 8 bytes, big-endian, two's complement
//   - a text or bytes as its length in bytes (a number), then the bytes
//   - a list as its length (a number), then its items
//   - a hash, always the last or a fixed field, as its 32 bytes
//
// Each encoding begins with the name of its kind and version, a text. testdata/vectors.json has examples.
package chain
