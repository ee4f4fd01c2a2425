// Package files owns the pictures, recordings and other files of entries: their upload, their content in an object store, and who may read them.
//
// The following must always hold:
//   - Every object belongs to a row of the table files, which was written before the object. So whatever breaks off, the sweep finds and removes it.
//   - A file is read only by users that may read its entry, and by its uploader.
//   - A file goes with its entry. A file without an entry goes after a day.
package files
