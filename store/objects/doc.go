// Package objects stores the contents of files: in a folder on disk, or in a bucket of an S3 store. Both implement files.Objects.
//
// The following must always hold:
//   - An object is whole. A reader sees the old content of a name or the new one, never a part of either. A process that is killed during a Put
//     leaves no object behind that is not whole.
//   - No call waits forever. A step of a request to S3 that does not get on ends after a time, and only its caller waits. Only the data of a Put
//     may take as long as the caller lets it.
//   - A name never leads out of the folder, or out of the prefix of the bucket.
//   - chat.ErrNotFound means that the store has said so. A disk that is not mounted, or a web server that is no S3 store, is chat.ErrUnavailable.
//
// The S3 store uses minio-go. It signs requests for AWS and for the stores that differ from it, and brings a dozen small modules with it.
package objects
