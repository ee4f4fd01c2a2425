// Package secret encrypts the secret columns of rows with a data key, which is kept outside the database. So a reader of the
// database, or of a backup of it, learns no passphrase of a packet that was sent while a data key was in use. Until such a packet is
// closed, the reader learns neither its seed nor its shares, except the amounts of claims, which are stored in clear. The seeds of next
// packets are secret, too.
//
// Columns: the seed of a user's next packet (users.next_seed), and the seed and passphrase of a packet (packets.encrypted_seed
// and packets.passphrase). An encrypted packet's columns seed and shares are empty until the packet is closed: the shares
// follow from the seed.
//
// An encrypted value consists of these parts:
//
//   - one byte, the version: 1
//   - 8 bytes, the id of the key
//   - AES-256-GCM: a random nonce of 12 bytes, the encrypted bytes, and a tag of 16 bytes
//
// The additional data is the name of the column, a zero byte, and the id of the row. So a value that was copied to another
// row or column cannot be decrypted. Of 2^40 values under one key, two have the same nonce with a probability of 2^-17.
//
// The hash of a request to send a packet covers the passphrase. A reader of the database could test guessed passphrases
// against it. So for a packet with a passphrase, an HMAC of the request hash is stored instead.
//
// A key file has one or two keys, each on a line of its own: 64 hex digits. The first key encrypts, and both decrypt. Empty lines
// and lines that begin with # are skipped. The keys for encryption, for request hashes and for receipts of draws, and the key's id, are
// derived from the key in the file by HKDF-Expand with SHA-256. The key of receipts is the seed of an Ed25519 key.
//
// Invariants: without keys (a nil *Keys), values are stored in clear, and clear values can be read. A value that was stored
// in clear can be read with keys, too. The audit needs no key.
package secret
