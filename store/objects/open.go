package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"hongbao/chat"
	"hongbao/chat/files"
)

// Config says where objects are stored.
type Config struct {
	// Address is the path of a folder, or s3://bucket/prefix with any of these parameters: endpoint, region, style, public and checksum=off. They are
	// Endpoint, Region, Style, PublicEndpoint and NoChecksum of S3Options.
	Address string
	Folder  string // the folder if Address is empty
	// AccessKey and SecretKey are for S3.
	AccessKey, SecretKey string
}

// Open opens the object store of the address. It sends nothing to an S3 store: Check does.
func Open(c Config) (files.Objects, error) {
	scheme, _, found := strings.Cut(c.Address, "://")
	switch {
	case c.Address == "":
		return OpenFolder(c.Folder)
	case !found:
		return OpenFolder(c.Address)
	case scheme != "s3":
		return nil, fmt.Errorf("the object store's address begins with %.20q: it must be the path of a folder, or s3://bucket/prefix", scheme+"://")
	}
	o, err := parseS3(c.Address)
	if err != nil {
		return nil, fmt.Errorf("the object store's address: %w", err)
	}
	o.AccessKey, o.SecretKey = c.AccessKey, c.SecretKey
	return OpenS3(o)
}

// parseS3 reads an address. Its errors do not repeat the address, because somebody may have put a key into it.
func parseS3(address string) (o S3Options, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return o, errors.New("it is not s3://bucket/prefix?endpoint=https://host&region=name")
	}
	if u.User != nil {
		return o, errors.New("it must not contain keys: they have their own settings")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, errors.New("what follows the question mark is not name=value&name=value")
	}
	o = S3Options{Bucket: u.Host, Prefix: u.Path}
	for name, values := range query {
		if len(values) != 1 {
			return o, fmt.Errorf("it has the parameter %.20q %d times", name, len(values))
		}
		switch value := values[0]; {
		case name == "endpoint":
			o.Endpoint = value
		case name == "region":
			o.Region = value
		case name == "style":
			o.Style = value
		case name == "public":
			o.PublicEndpoint = value
		case name == "checksum" && value == "off":
			o.NoChecksum = true
		default:
			return o, fmt.Errorf("it has an unknown parameter, or an unknown value of %.20q: use endpoint, region, style, public and checksum=off", name)
		}
	}
	return o, nil
}

// Check stores a small object, reads it, and removes it. Its error says what is wrong, and what to do. If the process ends meanwhile, the object
// stays in the folder "check".
func Check(ctx context.Context, o files.Objects) error {
	name, want := "check/"+strings.ToLower(rand.Text()), []byte("hongbao checks whether it can store files here")
	if err := o.Put(ctx, name, bytes.NewReader(want), int64(len(want))); err != nil {
		return fmt.Errorf("check the object store: %w", err)
	}
	got, err := readAll(ctx, o, name)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%w: %s was stored with %d bytes, and read with %d other ones", chat.ErrUnavailable, name, len(want), len(got))
	}
	if err := errors.Join(err, o.Delete(ctx, name)); err != nil {
		return fmt.Errorf("check the object store: %w", err)
	}
	if _, err := readAll(ctx, o, name); !errors.Is(err, chat.ErrNotFound) {
		return fmt.Errorf("check the object store: %s was removed, and must not be found: %w", name, errors.Join(chat.ErrUnavailable, err))
	}
	return nil
}

func readAll(ctx context.Context, o files.Objects, name string) ([]byte, error) {
	content, _, err := o.Get(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(content)
	return data, errors.Join(err, content.Close())
}
