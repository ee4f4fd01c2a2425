package objects

import (
	"context"
	"fmt"

	"github.com/minio/minio-go/v7"

	"hongbao/chat"
)

// advice says what to do about errors of S3, by their code.
var advice = map[string]string{
	minio.NoSuchBucket:                 "create the bucket, or correct its name",
	minio.InvalidAccessKeyID:           "the store does not know the access key: correct it",
	"SignatureDoesNotMatch":            "the secret key does not fit the access key: correct it",
	minio.AccessDenied:                 "allow the access key s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket",
	minio.AuthorizationHeaderMalformed: "set the region of the bucket",
	minio.InvalidRegion:                "set the region of the bucket",
	"PermanentRedirect":                "set the endpoint and the region of the bucket",
	"TemporaryRedirect":                "set the endpoint and the region of the bucket",
	"RequestTimeTooSkewed":             "set the clock of this machine",
	minio.NotImplemented:               "if the store knows no checksums, switch them off",
	minio.InvalidArgument:              "if the store knows no checksums, switch them off",
}

// failed turns an error of the client into chat.ErrNotFound, or wraps it with chat.ErrUnavailable, the store's address and advice.
func (s *S3) failed(ctx context.Context, doing string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("object store %s: %s: %w: %w", s.where, doing, chat.ErrUnavailable, cause)
	}
	answer := minio.ToErrorResponse(err)
	foreign := answer.StatusCode != 0 && answer.XMLName.Local == "" // the body was no error of S3, and the client has guessed the code
	switch {
	case answer.Code == "": // there was no answer
	case answer.Code == minio.NoSuchKey && !foreign:
		return fmt.Errorf("object store %s: %s: %w", s.where, doing, chat.ErrNotFound)
	case foreign:
		err = fmt.Errorf("the answer has HTTP status %d, and is none of an S3 store: look at the endpoint, and at what is before it", answer.StatusCode)
	case advice[answer.Code] != "":
		err = fmt.Errorf("%w (%s): %s", err, answer.Code, advice[answer.Code])
	default:
		err = fmt.Errorf("%w (%s)", err, answer.Code)
	}
	return fmt.Errorf("object store %s: %s: %w: %w", s.where, doing, chat.ErrUnavailable, err)
}
