package files

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strconv"
	"time"

	"hongbao/chat"
)

// Version is one of the forms in which a picture can be read. Other files have the original only.
type Version string

// The versions of a picture. A picture that is small has no smaller ones.
const (
	Original Version = "original"
	Middle   Version = "middle" // fits into 1280 × 1280 pixels
	Small    Version = "small"  // fits into 320 × 320 pixels
)

const (
	// LinkFor is how long a link can be used at most, and LinkFor less linkGrid at least. All links to a file that a user gets within linkGrid are the
	// same, so browsers have what they have read in their cache.
	LinkFor  = 15 * time.Minute
	linkGrid = 5 * time.Minute
	// LinksAtOnce is the most links that one request makes.
	LinksAtOnce = 100
	// presignFor is how long the address that an object store gives out can be used.
	presignFor = time.Minute
)

// Link lets its bearer read one file, as the user could.
type Link struct {
	Room, File, User string
	Until            int64 // Unix seconds
}

// Links returns the queries of links to files of the room, in the order of the files. It reads nothing about the files: a link to a file that the user
// may not read opens nothing.
func (s *Service) Links(ctx context.Context, user, room string, ids []string) (queries []string, until time.Time, err error) {
	if len(ids) > LinksAtOnce {
		return nil, time.Time{}, &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "files", Reason: fmt.Sprintf("must be at most %d", LinksAtOnce), Limit: LinksAtOnce}
	}
	if err := s.rooms.CheckRead(ctx, room, user); err != nil {
		return nil, time.Time{}, err
	}
	until = s.o.Now().Truncate(linkGrid).Add(LinkFor)
	for _, id := range ids {
		queries = append(queries, s.link(Link{Room: room, File: id, User: user, Until: until.Unix()}))
	}
	return queries, until, nil
}

// link returns the query of a link.
func (s *Service) link(l Link) string {
	return url.Values{"user": {l.User}, "until": {strconv.FormatInt(l.Until, 10)}, "mac": {s.mac(l)}}.Encode()
}

// Verify returns chat.ErrForbidden unless the link has this mac and can still be used.
func (s *Service) Verify(l Link, mac string) error {
	if !hmac.Equal([]byte(mac), []byte(s.mac(l))) || s.o.Now().Unix() >= l.Until {
		return chat.ErrForbidden
	}
	return nil
}

func (s *Service) mac(l Link) string {
	h := hmac.New(sha256.New, s.o.Key)
	_, _ = fmt.Fprintf(h, "file\x00%s\x00%s\x00%s\x00%d", l.Room, l.File, l.User, l.Until) // none of them has U+0000
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// Content is a file, ready to be read.
type Content struct {
	Headers

	Size    int64
	Address string // where the object store serves it; "": by Read
	Read    func(ctx context.Context, offset int64) (io.ReadCloser, error)
}

// Origin returns the origin at which the object store serves files to browsers, such as https://files.example.com; "" if this server serves them.
func (s *Service) Origin(ctx context.Context) (string, error) {
	address, err := s.objects.Link(ctx, checkFolder+"/origin", Headers{}, presignFor)
	if err != nil || address == "" {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}

// Open returns a version of a file for a user that may read it. The host (chat.System) may read every file, also one that is held.
func (s *Service) Open(ctx context.Context, user, room, id string, v Version) (Content, error) {
	f, err := s.rows.StoredFile(ctx, room, id)
	host := user == chat.System.ID
	switch {
	case err != nil:
		return Content{}, err
	case host && (f.State == Held || f.State == Ready):
		return s.content(ctx, f, v)
	case host, f.State != Ready, f.Seq == 0 && f.User != user:
		return Content{}, chat.ErrNotFound
	}
	if err := s.rooms.CheckRead(ctx, room, user); err != nil {
		return Content{}, err
	}
	return s.content(ctx, f, v)
}

func (s *Service) content(ctx context.Context, f Stored, v Version) (c Content, err error) {
	c = Content{Headers: Headers{Type: f.Type, Disposition: "inline"}, Size: f.Size}
	name := f.object(Original)
	switch {
	case v != Original && v != Middle && v != Small:
		return Content{}, chat.ErrNotFound
	case f.Kind == chat.OtherFile:
		c.Headers = Headers{Type: "application/octet-stream", Disposition: mime.FormatMediaType("attachment", map[string]string{"filename": f.Name})}
	}
	for _, made := range f.Made {
		if made.Version == v {
			c.Type, c.Size, name = made.Type, made.Size, f.object(v)
		}
	}
	c.Read = func(ctx context.Context, offset int64) (io.ReadCloser, error) {
		data, _, err := s.objects.Get(ctx, name, offset)
		if err != nil {
			return nil, missing(err)
		}
		return sentContent{data, &s.counters.sent}, nil
	}
	if c.Address, err = s.objects.Link(ctx, name, c.Headers, presignFor); err != nil {
		return Content{}, err
	}
	way := byServer
	if c.Address != "" {
		way = byStore
	}
	s.counters.downloads[way].Add(1)
	return c, nil
}
