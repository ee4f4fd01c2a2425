package nodes

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestJudge checks versions of Redis and fields of INFO that no server of these tests has.
func TestJudge(t *testing.T) {
	info := func(version, rest string) string { return "# Server\r\nredis_version:" + version + "\r\n" + rest }
	const master = "role:master\r\nmaster_replid:abc\r\n"
	for _, c := range []struct {
		info    string
		cluster bool
		want    string // of the error, or "" for none
		warning string
	}{
		{info("6.2.0", master+"maxmemory_policy:noeviction\r\n"), false, "", ""},
		{info("7.4.1", master+"maxmemory_policy:noeviction\r\n"), true, "", ""},
		{info("10.2.1", master), false, "", "does not tell"},
		{info("6.0.16", master), false, "6.2 or later", ""},
		{info("6.2.14", master), true, "7.0 or later", ""},
		{info("", master), false, "6.2 or later", ""},
		{info("7.0.0", "role:slave\r\nmaster_replid:abc\r\n"), false, "is a replica", ""},
		{info("7.0.0", "role:master\r\n"), false, "replication id", ""},
	} {
		var log bytes.Buffer
		err := judge(c.info, c.cluster, "r:1", slog.New(slog.NewTextHandler(&log, nil)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.info, err, c.want)
		}
		if (log.Len() > 0) != (c.warning != "") || !strings.Contains(log.String(), c.warning) {
			t.Errorf("%q: logged %q", c.info, log.String())
		}
	}
}
