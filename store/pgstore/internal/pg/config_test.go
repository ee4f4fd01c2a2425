package pg

import (
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	for _, url := range []string{
		"postgres://u:secret@h/d?pool_max_conns=2", "postgres://u:secret@h/d?pool_max_conns=x", "postgres://u:secret@h:port/d",
	} {
		if _, err := ParseURL(url); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, size := range map[string]int32{"postgres://u@h/d?application_name=x": 16, "postgres://u@h/d?pool_max_conns=7&application_name=x": 7} {
		c, err := ParseURL(url)
		if err != nil || c.MaxConns != size || c.MinConns != 0 || len(c.ConnConfig.RuntimeParams) != 3 || c.ConnConfig.ConnectTimeout != connectTimeout {
			t.Errorf("%s: %+v, %v", url, c, err)
		}
	}
}

// TestTargetSessionAttrs checks which URLs make the store refuse a read-only server: all that do not set
// target_session_attrs.
func TestTargetSessionAttrs(t *testing.T) {
	for url, validated := range map[string]bool{
		"postgres://u@h/d": true, "postgres://u@a:1,b:2/d": true, "postgres://u@a,b/d?target_session_attrs=primary": true,
		"postgres://u@a,b/d?target_session_attrs=any": false, "host=a,b target_session_attrs=any": false, "host=a,b": true,
	} {
		c, err := ParseURL(url)
		if err != nil || (c.ConnConfig.ValidateConnect != nil) != validated {
			t.Errorf("%s: validated %v, %v", url, !validated, err)
		}
	}
}

func TestConnectionsThatOthersCouldReadAreNamed(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:p@127.0.0.1/d?sslmode=disable":          "",
		"postgres:///d?host=/run/postgresql&sslmode=disable":  "",
		"postgres://u@localhost/d":                            "",
		"postgres://u:p@db.example.com/d?sslmode=verify-full": "",
		"postgres://u:p@db.example.com/d":                     "db.example.com may be without TLS",
		"postgres://u:p@127.0.0.1,10.0.0.7/d?sslmode=disable": "10.0.0.7 may be without TLS",
		"postgres://u@db.example.com/d?sslmode=verify-full":   "no password for db.example.com",
		"postgres://u@10.0.0.7/d?sslmode=disable":             "no password for 10.0.0.7",
	} {
		t.Setenv("PGPASSWORD", "")
		config, err := ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Dangers(config.ConnConfig), "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: dangers %q, want %q", url, got, want)
		}
	}
}
