package objects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenTakesAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []Config{
		{Folder: filepath.Join(dir, "1")},
		{Address: filepath.Join(dir, "2"), Folder: filepath.Join(dir, "unused")},
	} {
		o, err := Open(c)
		noError(t, err)
		put(t, o, "room1/file1", "content")
	}
	for name, want := range map[string]bool{"1": true, "2": true, "unused": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("the folder %s: %v, want it: %t", name, err, want)
		}
	}
}

func TestOpenTakesABucket(t *testing.T) {
	for address, want := range map[string]S3Options{
		"s3://files":                      {Bucket: "files"},
		"s3://files/":                     {Bucket: "files", Prefix: "/"},
		"s3://files/a/b?region=eu-west-1": {Bucket: "files", Prefix: "/a/b", Region: "eu-west-1"},
		"s3://files?style=host&checksum=off&endpoint=http%3A%2F%2Fminio%3A9000&public=https://files.example.com": {
			Bucket: "files", Style: "host", NoChecksum: true, Endpoint: "http://minio:9000", PublicEndpoint: "https://files.example.com",
		},
	} {
		if got, err := parseS3(address); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", address, got, err, want)
		}
		o, err := Open(Config{Address: address, AccessKey: "test", SecretKey: "secret"})
		noError(t, err)
		if prefix := o.(*S3).prefix; prefix != "" && prefix != "a/b/" {
			t.Errorf("%s: the prefix is %q", address, prefix)
		}
	}
}

func TestOpenRefusesAddresses(t *testing.T) {
	for address, says := range map[string]string{
		"http://files":                        "s3://bucket",
		"S3://files":                          "s3://bucket",
		"s3://":                               "Bucket name cannot be empty",
		"s3://Files":                          "Bucket name contains invalid characters",
		"s3://files/../a":                     "prefix",
		"s3://files/a//b":                     "prefix",
		"s3://files/%zz":                      "s3://bucket",
		"s3://access:key@files":               "must not contain keys",
		"s3://files?secret=key":               `"secret"`,
		"s3://files?region=a;b":               "name=value",
		"s3://files?region=a&region=b":        "2 times",
		"s3://files?style=other":              "path or host",
		"s3://files?checksum=on":              `"checksum"`,
		"s3://files?endpoint=minio:9000":      "http://",
		"s3://files?endpoint=ftp://minio":     "http://",
		"s3://files?endpoint=http://minio/a":  "http://",
		"s3://files?endpoint=http://a:key@c":  "http://",
		"s3://files?public=http://a:key@c":    "public endpoint",
		"s3://files?public=files.example.com": "public endpoint",
	} {
		_, err := Open(Config{Address: address, AccessKey: "test", SecretKey: "secret"})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), ":key@") {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
	for _, c := range []Config{{Address: "s3://files", AccessKey: "test"}, {Address: "s3://files", SecretKey: "secret"}} {
		if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "needs an access key and a secret key") {
			t.Errorf("without a key: %v", err)
		}
	}
}
