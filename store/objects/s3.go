package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"hongbao/chat"
	"hongbao/chat/files"
)

const (
	// stepTime is how long a step of a request may take: see patient.
	stepTime = 10 * time.Second
	// tries is how often a request is sent until it succeeds. A Put is sent once, because its data can be read only once.
	tries = 3
	// mostListed is the largest number of objects that S3 returns to one request.
	mostListed = 1000
)

// S3Options say where the bucket is, and with which keys it is used.
type S3Options struct {
	Endpoint  string // https://host[:port] or http://host[:port]; empty: AWS
	Bucket    string
	Prefix    string // of the name of each object, such as "hongbao/files"; may be empty
	Region    string // empty: what the endpoint says, else us-east-1
	AccessKey string
	SecretKey string
	// Style says where requests have the name of the bucket: "path" or "host". Empty: in the host for AWS, Google and Aliyun, else in the path.
	Style string
	// PublicEndpoint is the endpoint for clients. It may be the same as Endpoint. Empty: Link gives out no addresses.
	PublicEndpoint string
	// NoChecksum sends the content of a Put without what the store checks it with: the SHA-256 of each part over HTTP, a CRC-32C after the content over
	// HTTPS. Some stores know neither, such as Aliyun OSS.
	NoChecksum bool
}

// S3 stores objects in a bucket. The bucket should keep no versions: what Delete removes would stay as an old version.
type S3 struct {
	client   minio.Core
	public   *minio.Client // signs addresses for clients and sends nothing; nil: there are no such addresses
	bucket   string
	prefix   string // empty, or ends with '/'
	checksum checksum
	where    string // the address of the bucket, for errors
	step     time.Duration
}

var _ files.Objects = (*S3)(nil)

// OpenS3 sends nothing yet: Check tells whether the store can be used.
func OpenS3(o S3Options) (*S3, error) { return openS3(o, newPatient(stepTime)) }

func openS3(o S3Options, transport *patient) (*S3, error) {
	o.Endpoint = cmp.Or(o.Endpoint, "https://s3.amazonaws.com")
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("object store with the bucket %q: %w", o.Bucket, err)
	}
	s := &S3{bucket: o.Bucket, step: transport.step}
	if prefix := strings.Trim(o.Prefix, "/"); prefix != "" {
		s.prefix = prefix + "/"
	}
	client, err := o.client(o.Endpoint, transport)
	if err != nil {
		return nil, fmt.Errorf("endpoint of the object store: %w", err)
	}
	s.client, s.checksum = minio.Core{Client: client}, o.checksum(client.EndpointURL())
	s.where = client.EndpointURL().JoinPath(o.Bucket).String()
	if o.PublicEndpoint != "" {
		if s.public, err = o.client(o.PublicEndpoint, transport); err != nil {
			return nil, fmt.Errorf("public endpoint of the object store: %w", err)
		}
	}
	return s, nil
}

var goodPrefix = regexp.MustCompile(`^[a-zA-Z0-9_-][a-zA-Z0-9._-]*(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*$`)

func (o *S3Options) validate() error {
	if err := s3utils.CheckValidBucketNameStrict(o.Bucket); err != nil {
		return err
	}
	if prefix := strings.Trim(o.Prefix, "/"); prefix != "" && !goodPrefix.MatchString(prefix) {
		return fmt.Errorf("the prefix %q must be words of a-z, A-Z, 0-9, -, _ and . with a slash between them", o.Prefix)
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return errors.New("it needs an access key and a secret key")
	}
	if !slices.Contains([]string{"", "path", "host"}, o.Style) {
		return fmt.Errorf("the style is %q, want path or host", o.Style)
	}
	return nil
}

// client returns a client of an endpoint. The region is always set, so that no request is needed to find it. The error does not repeat the endpoint,
// because somebody may have put a key into it.
func (o *S3Options) client(endpoint string, transport http.RoundTripper) (*minio.Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("it must be http:// or https://, a host and perhaps a port, and nothing else")
	}
	secure := u.Scheme == "https"
	return minio.New(u.Host, &minio.Options{
		Creds:           credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""),
		Secure:          secure,
		Transport:       transport,
		Region:          cmp.Or(o.Region, s3utils.GetRegionFromURL(*u), "us-east-1"),
		BucketLookup:    map[string]minio.BucketLookupType{"path": minio.BucketLookupPath, "host": minio.BucketLookupDNS}[o.Style],
		TrailingHeaders: secure && !o.NoChecksum,
		MaxRetries:      tries,
	})
}

// checksum is what a store compares the content of a Put with.
type checksum struct {
	sha256 bool               // the signature of each part has its SHA-256
	after  minio.ChecksumType // of the sum that follows the content; 0: none does
}

// checksum chooses the checksum for an endpoint. The client signs parts over HTTP only. It sends no sum over HTTP, and none to Google.
func (o *S3Options) checksum(endpoint *url.URL) checksum {
	switch {
	case o.NoChecksum || s3utils.IsGoogleEndpoint(*endpoint):
		return checksum{}
	case endpoint.Scheme == "https":
		return checksum{after: minio.ChecksumCRC32C}
	}
	return checksum{sha256: true}
}

// key returns the name under which the bucket has an object.
func (s *S3) key(name string) (string, error) {
	_, _, err := split(name)
	return s.prefix + name, err
}

// within bounds a request whose answer is read at once.
func (s *S3) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, 2*s.step, errLate)
}

// Put implements files.Objects with one request. If it stops before the end of the data, the store has fewer bytes than were announced, and drops
// them.
func (s *S3) Put(ctx context.Context, name string, data io.Reader, size int64) error {
	key, err := s.key(name)
	if err != nil {
		return err
	}
	source, err := newExact(ctx, data, size)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	_, err = s.client.Client.PutObject(ctx, s.bucket, key, source, size, minio.PutObjectOptions{
		DisableMultipart:     true,
		DisableContentSha256: !s.checksum.sha256 || size == 0, // the client would send an empty body without its length
		Checksum:             s.checksum.after,
	})
	caused := source.stop() // the transport may still be reading
	switch {
	case err == nil:
		return nil
	case caused != nil:
		return fmt.Errorf("store %s: %w", name, caused)
	}
	return s.failed(ctx, "store "+name, err)
}

// Get implements files.Objects. The time that it has ends when the headers are there: then the content may come as slowly as the caller reads.
func (s *S3) Get(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	key, err := s.key(name)
	if err != nil {
		return nil, 0, err
	}
	if offset < 0 {
		return nil, 0, fmt.Errorf("read %s: the offset is %d: %w", name, offset, chat.ErrUnavailable)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(2*s.step, func() { cancel(errLate) })
	body, size, err := s.get(ctx, key, offset)
	late.Stop()
	if err != nil {
		defer cancel(nil)
		return nil, 0, s.failed(ctx, "read "+name, err)
	}
	return &content{body, ctx, cancel, s, name}, size, nil
}

func (s *S3) get(ctx context.Context, key string, offset int64) (io.ReadCloser, int64, error) {
	var options minio.GetObjectOptions
	if offset > 0 {
		options.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	body, info, header, err := s.client.GetObject(ctx, s.bucket, key, options)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		info, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
		return http.NoBody, info.Size, err
	}
	if err != nil {
		return nil, 0, err
	}
	size := info.Size
	if offset > 0 {
		first, all, _ := strings.Cut(header.Get("Content-Range"), "/")
		if size, err = strconv.ParseInt(all, 10, 64); !strings.HasPrefix(first, fmt.Sprintf("bytes %d-", offset)) || err != nil {
			err = fmt.Errorf("the store was asked for the bytes from %d on, and answers with the range %q", offset, first)
			return nil, 0, errors.Join(err, body.Close())
		}
	}
	if size < 0 {
		return nil, 0, errors.Join(errors.New("the store does not tell the size"), body.Close())
	}
	return body, size, nil
}

// content is the body of a Get.
type content struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	store  *S3
	name   string
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.store.failed(c.ctx, "read "+c.name, err)
	}
	return n, err
}

func (c *content) Close() error {
	defer c.cancel(nil)
	return c.ReadCloser.Close()
}

// Delete implements files.Objects with a request for each 1,000 objects.
func (s *S3) Delete(ctx context.Context, names ...string) error {
	keys := make([]string, len(names))
	for i, name := range names {
		var err error
		if keys[i], err = s.key(name); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(keys, mostListed) {
		if err := s.remove(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func (s *S3) remove(ctx context.Context, keys []string) error {
	ctx, cancel := s.within(ctx)
	defer cancel()
	if len(keys) == 1 {
		return s.removed(ctx, keys[0], s.client.RemoveObject(ctx, s.bucket, keys[0], minio.RemoveObjectOptions{}))
	}
	results, err := s.client.RemoveObjectsWithIter(ctx, s.bucket, func(yield func(minio.ObjectInfo) bool) {
		for _, key := range keys {
			if !yield(minio.ObjectInfo{Key: key}) {
				return
			}
		}
	}, minio.RemoveObjectsOptions{})
	if err != nil {
		return s.failed(ctx, "remove objects", err)
	}
	for result := range results {
		if err := s.removed(ctx, result.ObjectName, result.Err); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // then there are no results
		return s.failed(ctx, "remove objects", err)
	}
	return nil
}

// removed returns the error of a removal. Some stores, such as Google's, find it an error that the object is not there.
func (s *S3) removed(ctx context.Context, key string, err error) error {
	if err != nil {
		err = s.failed(ctx, "remove "+key, err)
	}
	if errors.Is(err, chat.ErrNotFound) {
		return nil
	}
	return err
}

// List implements files.Objects. It leaves out what has no name of an object.
func (s *S3) List(ctx context.Context, folder, after string, limit int) (found []files.Object, err error) {
	if err := checkRange(folder, after); err != nil || limit <= 0 {
		return nil, err
	}
	options := minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true, MaxKeys: min(limit, mostListed), FetchOwner: new(bool)}
	if folder != "" {
		options.Prefix += folder + "/"
	}
	if after != "" {
		options.StartAfter = s.prefix + after
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	for info := range s.client.ListObjectsIter(ctx, s.bucket, options) {
		if info.Err != nil {
			return nil, s.failed(ctx, "list objects", info.Err)
		}
		name := strings.TrimPrefix(info.Key, s.prefix)
		if _, _, err := split(name); err == nil {
			found = append(found, files.Object{Name: name, Size: info.Size, At: info.LastModified})
		}
		if len(found) == limit {
			return found, nil
		}
	}
	if err := ctx.Err(); err != nil { // then the objects are not all
		return nil, s.failed(ctx, "list objects", err)
	}
	return found, nil
}

// Link implements files.Objects. It sends nothing. S3 allows at most seven days.
func (s *S3) Link(ctx context.Context, name string, as files.Headers, valid time.Duration) (string, error) {
	key, err := s.key(name)
	if err != nil || s.public == nil {
		return "", err
	}
	query := url.Values{}
	if as.Type != "" {
		query.Set("response-content-type", as.Type)
	}
	if as.Disposition != "" {
		query.Set("response-content-disposition", as.Disposition)
	}
	u, err := s.public.PresignedGetObject(ctx, s.bucket, key, valid, query)
	if err != nil {
		return "", fmt.Errorf("sign an address of %s for %v: %w: %w", name, valid, chat.ErrUnavailable, err)
	}
	return u.String(), nil
}
