// Package archive reads and writes archives of an installation: its users, rooms, members and texts. It imports chat, and chat/files for the
// files of texts.
//
// An archive is a text file with a JSON object in each line, see User, Room, Text and Member. A line may name only what earlier lines have
// described. The contents of files are in a folder beside it.
//
// It must always hold:
//
//   - An import of lines that were imported before changes nothing, except that users and members get what the lines say about them. So an
//     import that was interrupted goes on when it is run again.
//   - The texts of a room are appended in the order of their lines, with the authors and the times of the archive.
//   - An import reads no file outside the folder of the archive.
package archive
