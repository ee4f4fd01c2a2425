// Package files owns the pictures, recordings and other files of entries: their upload, their content in an object store, and the right to read them.
//
// The following must always hold:
//   - Every object belongs to a row of the table files. The row is written before the first object and deleted after the last one. So the sweep finds
//     and removes what an upload or a removal leaves that breaks off.
//   - A file is read only by users that may read its entry, by its uploader and by the host. The content has the hash that names it.
//   - A file goes with its entry. A file without an entry goes after a day, and an upload that has stalled after an hour.
package files
