// Package chain defines the hash chains that make a changed, added, removed or moved row visible. It computes hashes, and has the SQL
// statements that read and link chained rows, but it opens no database. Both SQL stores, the audit and the tests use the package. It
// imports chat, redpacket and store/secret for the rows that it hashes.
//
// A leaf is the hash of those fields of one row that never change. It leaves out what the audit compares with another hashed
// row, such as the skin of a packet with its entry. The end of a draw is a leaf of its own, although its columns are in the packet's row. A link is the hash of all leaves that one transaction has written, and of
// the link before it. So the newest link of a chain, its head, stands for every row of the chain. A copy of the head that is
// kept elsewhere is an anchor. An audit that gets the anchor finds every later change of a hashed field of these rows.
//
// Texts and names of entries and packets can be erased without breaking a chain, because a leaf contains only their salted hash. The
// salt is stored beside the text, in a seal column. Erasing the text replaces the salt with the hash.
//
// Everything that is hashed is encoded like this:
//
//   - a number as 8 bytes, big-endian, two's complement
//   - a text or bytes as its length in bytes (a number), then the bytes
//   - a list as its length (a number), then its items
//   - a hash as its 32 bytes, without a length
//
// Each encoding begins with the name of its kind and version, a text. There is one exception: the digest of a link is the
// SHA-256 of its leaves, sorted and put one after another, with nothing before them. testdata/vectors.json has examples.
package chain
