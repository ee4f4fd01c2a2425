package nodes

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]Target{
		"redis://localhost":         {addrs: []string{"localhost:6379"}},
		"redis://10.0.0.1:7000/3":   {addrs: []string{"10.0.0.1:7000"}, db: 3},
		"redis://[::1]:7000":        {addrs: []string{"[::1]:7000"}},
		"redis://[::1]/0":           {addrs: []string{"[::1]:6379"}},
		"rediss://u:p%2F%40@r":      {secure: true, addrs: []string{"r:6379"}, user: "u", password: "p/@"},
		"redis://:only@r":           {addrs: []string{"r:6379"}, password: "only"},
		"redis+cluster://a:1,b:2,c": {kind: cluster, addrs: []string{"a:1", "b:2", "c:6379"}},
		"rediss+cluster://u:p@a:1/": {kind: cluster, secure: true, addrs: []string{"a:1"}, user: "u", password: "p"},
		"redis+sentinel://a,b:1/m":  {kind: sentinel, addrs: []string{"a:26379", "b:1"}, master: "m"},
		"redis+sentinel://a/m%20x?db=2&sentinel_user=s&sentinel_password=q": {
			kind: sentinel, addrs: []string{"a:26379"}, master: "m x", db: 2, sentinelUser: "s", sentinelPassword: "q",
		},
	} {
		if got, err := Parse(url); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", url, got, err, want)
		}
	}
}

// TestParseRefuses checks that an error names the setting and the mistake, and contains no secret.
func TestParseRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                                   "must begin with",
		"localhost:6379":                     "must begin with",
		"http://u:secret@r":                  "must begin with",
		"redis+://r":                         "must begin with",
		"redis+ring://r":                     "must begin with",
		"redis://":                           "address 1 is not",
		"redis://u:secret@":                  "address 1 is not",
		"redis://u:secret@r:port":            "address 1 is not",
		"redis://u:secret@r:0":               "address 1 is not",
		"redis://u:secret@r:99999":           "address 1 is not",
		"redis://u:sec/secret@r:6379":        "address 1 is not",
		"redis://u:secret%zz@r":              "the password is not percent-encoded",
		"redis://u%zz:secret@r":              "the user name is not percent-encoded",
		"redis://u:secret@a,b":               "takes one host",
		"redis://u:secret@a/x":               "the database must be a number",
		"redis://u:secret@a/-1":              "the database must be a number",
		"redis://u:secret@a?x=secret":        `unknown parameter "x"`,
		"redis+cluster://u:secret@a/1":       "no databases",
		"redis+cluster://u:secret@a,":        "address 2 is not",
		"redis+cluster://u:secret@a?db=1":    `unknown parameter "db"`,
		"redis+sentinel://u:secret@a":        "name of the master",
		"redis+sentinel://u:secret@a/m/1":    "name of the master",
		"redis+sentinel://u:secret@a/m?db=x": "the database must be a number",
	} {
		_, err := Parse(url)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), Setting) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

func TestTargetNames(t *testing.T) {
	for url, want := range map[string]string{
		"rediss://u:secret@r:1/2":               "Redis at r:1/2",
		"redis+cluster://u:secret@a:1,b:2":      "Redis Cluster at a:1,b:2",
		"redis+sentinel://u:secret@a:1,b:2/one": "Redis master one by the sentinels a:1,b:2",
	} {
		if got, err := Parse(url); err != nil || got.String() != want {
			t.Errorf("%s: %q %v", url, got, err)
		}
	}
}

// TestTargetTLS checks that rediss means TLS for every kind.
func TestTargetTLS(t *testing.T) {
	for url, want := range map[string]bool{
		"redis://r": false, "rediss://r": true, "redis+cluster://r": false, "rediss+cluster://r": true,
		"redis+sentinel://r/m": false, "rediss+sentinel://r/m": true,
	} {
		target, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		client := target.Client()
		var got bool
		switch c := client.(type) {
		case *redis.Client:
			got = c.Options().TLSConfig != nil
		case *redis.ClusterClient:
			got = c.Options().TLSConfig != nil
		}
		if got != want {
			t.Errorf("%s: TLS %t", url, got)
		}
		client.Close()
	}
}
