// Package objects stores the contents of files: in a folder on disk, or in a bucket of an S3 store. Both implement files.Objects.
//
// The following must always hold:
//   - An object is whole. A reader sees the old content of a name or the new one, never a part of either. What a process leaves behind that was killed during
//     a Put is no object.
//   - No call waits forever. A step of S3 that does not get on ends after a time, and only its caller waits. Only the data of a Put may take as long as its
//     caller lets it.
//   - A name never leads out of the folder or the prefix of the bucket.
//   - chat.ErrNotFound means that the store has said so. A folder that is not mounted, or a web server that is no S3 store, is chat.ErrUnavailable.
//
// The S3 store uses minio-go, because it signs requests for AWS and for the many stores that differ from it, with ten small modules instead of the SDK of AWS.
package objects
