package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// load reads the settings of a subcommand as the program does.
func load(command string, args, environ []string) (config, error) {
	var c config
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	err := c.load(fs, command, args, environ)
	return c, err
}

func TestFlagsWinOverEnvironmentOverDefaults(t *testing.T) {
	c, err := load("serve", []string{"--drain", "3s"}, []string{"HONGBAO_DRAIN=9s", "HONGBAO_ADDR=127.0.0.1:1", "HONGBAO_OPS_ADDR="})
	noError(t, err)
	if c.Drain.Duration != 3*time.Second || c.Addr != "127.0.0.1:1" || c.OpsAddr != "127.0.0.1:8081" {
		t.Errorf("drain %v, addr %s, ops-addr %s; want 3s of the flag, 127.0.0.1:1 of the variable, 127.0.0.1:8081 by default", c.Drain, c.Addr, c.OpsAddr)
	}
}

func TestEverySettingHasWorkingFlagVariableAndDefault(t *testing.T) {
	samples := map[string]string{
		"guests": "public", "pprof": "on", "currency": "EUR:3", "limits": "off", "drain": "1m30s", "max-read-wait": "2s", "audit-every": "7m", "log-level": "WARN", "log-format": "json",
		"guest-credit": "7", "lobby": "on", "pictures": "off", "search": "off", "file-bytes": "5", "file-day-bytes": "6", "files-bytes": "7", "max-packet-total": "8", "max-packet-count": "9", "max-open-packets": "12",
		"day-sent": "13", "day-received": "own", "day-packets": "0", "day-offset": "8h",
		"texts-keep": "public:30", "retention-hours": "22-5", "acts-keep": "90",
		"public-rooms": "5", "create-rate": "1,2,3", "invite-rate": "4, 5, 0", "direct-rate": "0,0,6",
		"max-sockets": "10", "max-sockets-per-address": "11", "max-reply-bytes": "16777217",
		"events": "message.*, packet.claimed", "hook-timeout": "100ms", "hook-fail": "send:closed, grab:open", "hook-fund": "on", "events-keep": "2h", "events-most": "5000",
		"acme-hosts": "chat.example.com", "migrate": "check", "ready-needs": "redis", "drain-delay": "3s",
		"jwt-public-key": writeFile(t, "some text"), "trusted-proxies": "10.0.0.1, fd00::/8", "allowed-origins": "https://shop.example.com",
	}
	for _, s := range new(config).settings() {
		t.Run(s.flag, func(t *testing.T) {
			text := "some text"
			if sample, ok := samples[s.flag]; ok {
				text = sample
			}
			if s.fromFile {
				text = writeFile(t, "some text\n")
			}
			for _, command := range s.commands {
				if s.secret == "value" {
					continue // TestSecretsAreNoFlags
				}
				byFlag, err := load(command, []string{"--" + s.flag, text}, nil)
				noError(t, err)
				byVariable, err := load(command, nil, []string{s.env + "=" + text})
				noError(t, err)
				fallback, err := load(command, nil, nil)
				noError(t, err)
				if got, want := fmt.Sprint(byFlag), fmt.Sprint(byVariable); got != want {
					t.Errorf("%s: the flag gives %s, the variable %s, want the same", command, got, want)
				}
				if fmt.Sprint(byFlag) == fmt.Sprint(fallback) {
					t.Errorf("%s: the setting has no effect", command)
				}
			}
		})
	}
}

func TestUnknownVariableRefusesToStart(t *testing.T) {
	for _, command := range []string{"serve", "audit", "token"} {
		_, err := load(command, nil, []string{"HONGBAO_REDIS_URI=redis://127.0.0.1"})
		if err == nil || !strings.Contains(err.Error(), "HONGBAO_REDIS_URI") {
			t.Errorf("%s: error %v, want one that names the variable", command, err)
		}
	}
}

// TestSettingAndItsFileAsFlagsAreRefused gives a setting and the file that holds it on one command line, in both orders. A flag still
// wins over a variable.
func TestSettingAndItsFileAsFlagsAreRefused(t *testing.T) {
	file := writeFile(t, "postgres://file/hongbao")
	byValue, byFile := []string{"--database-url", "postgres://db/hongbao"}, []string{"--database-url-file", file}
	for _, args := range [][]string{slices.Concat(byValue, byFile), slices.Concat(byFile, byValue)} {
		if _, err := load("audit", args, nil); err == nil || !strings.Contains(err.Error(), "--database-url") || !strings.Contains(err.Error(), "keep one") {
			t.Errorf("%v: error %v, want one that names both flags", args, err)
		}
	}
	c, err := load("audit", byFile, []string{"HONGBAO_DATABASE_URL=postgres://variable/hongbao"})
	if err != nil || c.DatabaseURL != "postgres://file/hongbao" {
		t.Errorf("the URL is %q, error %v, want that of the file that the flag names", c.DatabaseURL, err)
	}
}

func TestKubernetesServiceVariablesAreIgnored(t *testing.T) {
	environ := []string{"HONGBAO_SERVICE_HOST=10.0.0.1", "HONGBAO_PORT=tcp://10.0.0.1:80", "HONGBAO_PORT_80_TCP_ADDR=10.0.0.1"}
	if _, err := load("serve", nil, environ); err != nil {
		t.Error(err)
	}
}

func TestSubcommandsCheckOnlyWhatTheyUse(t *testing.T) {
	if _, err := load("audit", nil, []string{"HONGBAO_GUESTS=nonsense", "HONGBAO_DRAIN=soon"}); err != nil {
		t.Errorf("audit does not use GUESTS and DRAIN, but checks them: %v", err)
	}
	if _, err := load("serve", nil, []string{"HONGBAO_GUESTS=nonsense"}); err == nil {
		t.Error("serve accepts HONGBAO_GUESTS=nonsense, want an error")
	}
	if _, err := load("audit", []string{"--guests", "off"}, nil); err == nil {
		t.Error("audit accepts --guests, which it does not use, want an error")
	}
}

func TestSecretFromFile(t *testing.T) {
	secret := strings.Repeat("s", 40)
	file := writeFile(t, secret+"\n")
	c, err := load("serve", nil, []string{"HONGBAO_JWT_SECRET_FILE=" + file})
	if err != nil || c.JWTSecret != secret {
		t.Errorf("the secret is %q, error %v, want the file's content without the newline", c.JWTSecret, err)
	}
	if _, err := load("serve", nil, []string{"HONGBAO_JWT_SECRET_FILE=" + file, "HONGBAO_JWT_SECRET=x"}); err == nil {
		t.Error("HONGBAO_JWT_SECRET and HONGBAO_JWT_SECRET_FILE together are accepted, want an error")
	}
	if _, err := load("serve", nil, []string{"HONGBAO_JWT_SECRET_FILE=" + file + ".not"}); err == nil {
		t.Error("a missing file is accepted, want an error")
	}
}

// TestSecretsAreNoFlags gives each secret on the command line, where every process of the machine could read it. It must
// be refused, with the name of a variable that works.
func TestSecretsAreNoFlags(t *testing.T) {
	found := map[string]bool{}
	for _, s := range new(config).settings() {
		values := map[string]bool{} // whether the flag accepts it
		switch s.secret {
		case "value":
			values["some text"] = false
		case "password":
			values["postgres://db/hongbao"], values["redis://default@db:1,db:2/0"], values["redis://r:6379"] = true, true, true
			values["postgres://hongbao:pass@db/hongbao"], values["redis://:pass@r:6379"], values["redis+sentinel://u:p@a:1,b:2/master"] = false, false, false
			values["postgres://db/hongbao?PASSWORD=pass"], values["host=db password = pass"] = false, false
		}
		for value, accepted := range values {
			found[s.flag] = true
			_, err := load(s.commands[0], []string{"--" + s.flag, value}, nil)
			if accepted != (err == nil) || err != nil && (!strings.Contains(err.Error(), s.env+"_FILE") || strings.Contains(err.Error(), value)) {
				t.Errorf("--%s %s: %v, want accepted: %t, or an error that names %s", s.flag, value, err, accepted, s.env)
			}
			if _, err := load(s.commands[0], nil, []string{s.env + "=" + value}); err != nil {
				t.Errorf("%s=%s: %v, want no error", s.env, value, err)
			}
		}
	}
	for _, flag := range []string{"jwt-secret", "jwt-secret-previous", "guest-key", "guest-key-previous", "push-key", "ops-token", "redis-url", "database-url", "jwt-jwks-url"} {
		if !found[flag] {
			t.Errorf("--%s is not treated as a secret", flag)
		}
	}
}

// TestEmptyFileIsRefused names an empty file in a setting. The file was probably not filled yet, so it must be an
// error and not count as an absent setting.
func TestEmptyFileIsRefused(t *testing.T) {
	count := 0
	for _, s := range new(config).settings() {
		if _, key := s.field.Interface().(keyFile); !s.fromFile && !key {
			continue
		}
		count++
		for _, content := range []string{"", "\n", " \r\n\t"} {
			file := writeFile(t, content)
			if _, err := load("serve", nil, []string{s.env + "=" + file}); err == nil || !strings.HasPrefix(err.Error(), s.env+": ") || !strings.Contains(err.Error(), "empty") {
				t.Errorf("%s with a file of %q: error %v, want one that names the setting and says empty", s.env, content, err)
			}
			if _, err := load("serve", []string{"--" + s.flag, file}, nil); err == nil || !strings.Contains(err.Error(), s.flag) || !strings.Contains(err.Error(), "empty") {
				t.Errorf("--%s with a file of %q: error %v, want one that names the flag and says empty", s.flag, content, err)
			}
		}
	}
	if count != 14 {
		t.Errorf("%d settings are read from a file, want 14", count)
	}
}

func writeFile(t *testing.T, content string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// publicKey is any public key in PEM.
const publicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`

func TestInvalidSettingsAreNamed(t *testing.T) {
	missing, empty := filepath.Join(t.TempDir(), "none"), writeFile(t, "")
	for _, setting := range []string{
		"HONGBAO_JWT_PUBLIC_KEY=" + missing, "HONGBAO_JWT_PUBLIC_KEY=" + empty, "HONGBAO_LIMITS=some", "HONGBAO_LOG_LEVEL=loud", "HONGBAO_TRUSTED_PROXIES=proxy.example.com",
		"HONGBAO_TRUSTED_PROXIES=10.0.0.0/33", "HONGBAO_TRUSTED_PROXIES=10.0.0.1, all", "HONGBAO_TRUSTED_PROXIES=fe80::1%eth0", "HONGBAO_TRUSTED_PROXIES=::ffff:10.0.0.0/104",
		"HONGBAO_ALLOWED_ORIGINS=*", "HONGBAO_ALLOWED_ORIGINS=shop.example.com", "HONGBAO_ALLOWED_ORIGINS=https://shop.example.com/page",
		"HONGBAO_ALLOWED_ORIGINS=https://*.example.com", "HONGBAO_ALLOWED_ORIGINS=https://a.example; sandbox", "HONGBAO_ALLOWED_ORIGINS=https://a.example:x",
		"HONGBAO_ACME_HOSTS=*.example.com", "HONGBAO_ACME_HOSTS=localhost", "HONGBAO_ACME_HOSTS=10.0.0.1", "HONGBAO_ACME_HOSTS=chat.example.com:443",
	} {
		name, _, _ := strings.Cut(setting, "=")
		if _, err := load("serve", nil, []string{setting}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names the setting", setting, err)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	c, err := load("serve", nil, []string{"HONGBAO_TRUSTED_PROXIES=10.0.0.1, 10.1.0.0/16,::ffff:10.2.0.1,fd00::/8 ,"})
	if got, want := fmt.Sprint(c.TrustedProxies), "[10.0.0.1/32 10.1.0.0/16 10.2.0.1/32 fd00::/8]"; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestAllowedOrigins(t *testing.T) {
	c, err := load("serve", nil, []string{"HONGBAO_ALLOWED_ORIGINS=https://Shop.example.com/, https://a.example:443,http://a.example:443, " +
		"http://localhost:3000,capacitor://localhost,http://[::1]:80 ,"})
	want := "[https://shop.example.com https://a.example http://a.example:443 http://localhost:3000 capacitor://localhost http://[::1]]"
	if got := fmt.Sprint(c.AllowedOrigins); err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestUnsafeSettingsAreRefused(t *testing.T) {
	const redis, database = "HONGBAO_REDIS_URL=redis://127.0.0.1", "HONGBAO_DATABASE_URL=postgres://127.0.0.1/hongbao"
	secret := "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)
	key, jwks, audience := "HONGBAO_JWT_PUBLIC_KEY="+writeFile(t, publicKey), "HONGBAO_JWT_JWKS_URL=https://keys.example.com/", "HONGBAO_JWT_AUDIENCE=chat"
	guestKey := "HONGBAO_GUEST_KEY=" + strings.Repeat("0f", 32)
	hooked := []string{"HONGBAO_HOOK_URL=https://shop.example.com/hook", "HONGBAO_HOOK_SECRETS=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "HONGBAO_HOOKS=send,send_packet"}
	tests := []struct {
		name    string
		environ []string
		want    string // part of the error; empty: accepted
	}{
		{"nothing set", nil, ""},
		{"Web Push", []string{"HONGBAO_PUSH_CONTACT=ops@example.com"}, ""},
		{"Web Push, a page", []string{"HONGBAO_PUSH_CONTACT=https://example.com/contact"}, ""},
		{"Web Push without a contact", []string{"HONGBAO_PUSH_KEY=AAAA"}, "HONGBAO_PUSH_CONTACT"},
		{"Web Push, no address", []string{"HONGBAO_PUSH_CONTACT=me"}, "neither a mail address nor"},
		{"Web Push, scaled", []string{redis, database, secret, "HONGBAO_PUSH_CONTACT=ops@example.com"}, "HONGBAO_PUSH_KEY_FILE"},
		{"Web Push, scaled, with a key", []string{redis, database, secret, "HONGBAO_PUSH_CONTACT=ops@example.com", "HONGBAO_PUSH_KEY=AAAA"}, ""},
		{"short secret", []string{"HONGBAO_JWT_SECRET=" + strings.Repeat("s", 31)}, "HONGBAO_JWT_SECRET"},
		{"secret", []string{secret, "HONGBAO_ADDR=0.0.0.0:80"}, ""},
		{"public address, no way to sign in", []string{"HONGBAO_ADDR=:8080"}, "HONGBAO_JWT_SECRET"},
		{"guests off, no way to sign in", []string{"HONGBAO_GUESTS=off"}, "nobody could sign in"},
		{"local guests on a public address", []string{"HONGBAO_ADDR=:8080", "HONGBAO_GUESTS=local", secret}, "HONGBAO_GUESTS=public"},
		{"public guests on a public address", []string{"HONGBAO_ADDR=:8080", "HONGBAO_GUESTS=public"}, ""},
		{"local guests by name", []string{"HONGBAO_ADDR=localhost:80", "HONGBAO_GUESTS=local"}, ""},
		{"local guests, IPv6", []string{"HONGBAO_ADDR=[::1]:80"}, ""},
		{"Redis without Postgres", []string{redis, secret}, "HONGBAO_DATABASE_URL"},
		{"Postgres without Redis", []string{database, secret}, "HONGBAO_REDIS_URL"},
		{"scaled", []string{redis, database, secret}, ""},
		{"scaled, no tokens", []string{redis, database}, "HONGBAO_JWT_SECRET"},
		{"scaled, guests without a key", []string{redis, database, "HONGBAO_GUESTS=local"}, "HONGBAO_GUEST_KEY_FILE"},
		{"scaled, guests without tokens", []string{redis, database, guestKey, "HONGBAO_GUESTS=local"}, ""},
		{"scaled, short secret", []string{redis, database, "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 31)}, "HONGBAO_JWT_SECRET"},
		{"scaled, local guests on a public address", []string{redis, database, secret, "HONGBAO_ADDR=:80", "HONGBAO_GUESTS=local"}, "HONGBAO_GUESTS=public"},
		{"public key", []string{key, audience, "HONGBAO_ADDR=0.0.0.0:80"}, ""},
		{"keys at a URL", []string{jwks, audience, "HONGBAO_ADDR=0.0.0.0:80"}, ""},
		{"keys at a URL, an issuer", []string{jwks, "HONGBAO_JWT_ISSUER=https://id.example.com/"}, ""},
		{"scaled, public key", []string{redis, database, key, audience}, ""},
		{"scaled, keys at a URL", []string{redis, database, jwks, audience}, ""},
		{"public key for any program", []string{key}, "neither audience nor issuer"},
		{"keys at a URL for any program", []string{jwks}, "neither audience nor issuer"},
		{"previous secret alone", []string{"HONGBAO_JWT_SECRET_PREVIOUS=" + strings.Repeat("s", 32)}, "previous secret"},
		{"short previous secret", []string{secret, "HONGBAO_JWT_SECRET_PREVIOUS=" + strings.Repeat("s", 31)}, "31 bytes"},
		{"both secrets", []string{secret, "HONGBAO_JWT_SECRET_PREVIOUS=" + strings.Repeat("p", 32)}, ""},
		{"a list of admin scopes", []string{"HONGBAO_ADMIN_SCOPE=admin root"}, "HONGBAO_ADMIN_SCOPE"},
		{"play money beside tokens", []string{secret, "HONGBAO_GUEST_CREDIT=1"}, "HONGBAO_GUEST_CREDIT"},
		{"play money of public guests beside tokens", []string{jwks, audience, "HONGBAO_GUESTS=public", "HONGBAO_GUEST_CREDIT=5000000"}, "HONGBAO_GUEST_CREDIT"},
		{"guests without money beside tokens", []string{secret, "HONGBAO_GUESTS=public", "HONGBAO_GUEST_CREDIT=0"}, ""},
		{"a lobby without guests", []string{secret, "HONGBAO_LOBBY=on"}, "HONGBAO_LOBBY"},
		{"a lobby without play money", []string{"HONGBAO_GUEST_CREDIT=0", "HONGBAO_LOBBY=on"}, "HONGBAO_LOBBY"},
		{"a scaled lobby", []string{redis, database, guestKey, "HONGBAO_GUESTS=local", "HONGBAO_LOBBY=on"}, ""},
		{"operator's listener on any address", []string{"HONGBAO_OPS_ADDR=0.0.0.0:8081"}, "HONGBAO_OPS_TOKEN_FILE"},
		{"operator's listener on a network", []string{"HONGBAO_OPS_ADDR=10.0.0.1:8081"}, "HONGBAO_OPS_TOKEN_FILE"},
		{"operator's listener with a token", []string{"HONGBAO_OPS_ADDR=:8081", "HONGBAO_OPS_TOKEN=" + strings.Repeat("t", 32)}, ""},
		{"short token of the operator", []string{"HONGBAO_OPS_TOKEN=" + strings.Repeat("t", 31)}, "HONGBAO_OPS_TOKEN"},
		{"public key and secret", []string{key, secret}, "keep one"},
		{"public key and URL", []string{key, jwks}, "keep one"},
		{"secret and URL", []string{secret, jwks}, "keep one"},
		{"private key", []string{"HONGBAO_JWT_PUBLIC_KEY=" + writeFile(t, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")}, "HONGBAO_JWT_PUBLIC_KEY"},
		{"keys over plain HTTP", []string{"HONGBAO_JWT_JWKS_URL=http://keys.example.com/"}, "HONGBAO_JWT_JWKS_URL"},
		{"an issuer without a key", []string{"HONGBAO_JWT_ISSUER=us"}, "HONGBAO_JWT_ISSUER=us has no effect"},
		{"an audience without a key", []string{"HONGBAO_JWT_AUDIENCE=chat"}, "HONGBAO_JWT_AUDIENCE=chat has no effect"},
		{"our own issuer", []string{secret, "HONGBAO_JWT_ISSUER=hongbao-guest"}, "hongbao-guest"},
		{"a certificate without its key", []string{"HONGBAO_TLS_CERT_FILE=cert.pem"}, "HONGBAO_TLS_KEY_FILE"},
		{"a key without its certificate", []string{"HONGBAO_TLS_KEY_FILE=key.pem"}, "HONGBAO_TLS_CERT_FILE"},
		{"a certificate and ACME", []string{"HONGBAO_TLS_CERT_FILE=cert.pem", "HONGBAO_TLS_KEY_FILE=key.pem", "HONGBAO_ACME_HOSTS=chat.example.com"}, "keep one"},
		{"ACME", []string{secret, "HONGBAO_ADDR=:443", "HONGBAO_ACME_HOSTS=chat.example.com, Talk.example.com"}, ""},
		{"ACME, scaled", []string{redis, database, secret, "HONGBAO_ACME_HOSTS=chat.example.com"}, "load balancer"},
		{"no port", []string{"HONGBAO_ADDR=127.0.0.1"}, "HONGBAO_ADDR"},
		{"no ops port", []string{"HONGBAO_OPS_ADDR=127.0.0.1"}, "HONGBAO_OPS_ADDR"},
		{"both listeners on one port", []string{"HONGBAO_ADDR=127.0.0.1:9000", "HONGBAO_OPS_ADDR=127.0.0.1:9000"}, "HONGBAO_OPS_ADDR=127.0.0.1:9000 has the port of HONGBAO_ADDR=127.0.0.1:9000"},
		{"both listeners on one port, one on any address", []string{"HONGBAO_ADDR=127.0.0.1:9000", "HONGBAO_OPS_ADDR=[::]:9000", "HONGBAO_OPS_TOKEN=" + strings.Repeat("t", 32)}, "each needs its own"},
		{"both listeners on one port of different addresses", []string{"HONGBAO_ADDR=127.0.0.1:9000", "HONGBAO_OPS_ADDR=127.0.0.2:9000"}, ""},
		{"both listeners on any port", []string{"HONGBAO_ADDR=127.0.0.1:0", "HONGBAO_OPS_ADDR=127.0.0.1:0"}, ""},
		{"a hook", hooked, ""},
		{"a hook before no command", hooked[:2], "HONGBAO_HOOKS"},
		{"a hook without a URL", hooked[2:], "HONGBAO_HOOK_URL"},
		{"a hook without a secret", []string{hooked[0], hooked[2]}, "HONGBAO_HOOK_SECRETS"},
		{"a hook without encryption", append([]string{"HONGBAO_HOOK_URL=http://shop.example.com/"}, hooked[1:]...), "allowed by name"},
		{"a hook before an unknown command", append([]string{"HONGBAO_HOOKS=recall"}, hooked[:2]...), "recall"},
		{"a slow hook", append([]string{"HONGBAO_HOOK_TIMEOUT=6s"}, hooked...), "HONGBAO_HOOK_TIMEOUT"},
		{"unknown failure", append([]string{"HONGBAO_HOOK_FAIL=send:maybe"}, hooked...), "send:maybe"},
		{"funds without events", append([]string{"HONGBAO_HOOK_FUND=on"}, hooked...), "transfer.reversed"},
		{"funds without its hook", append([]string{"HONGBAO_HOOK_FUND=on", "HONGBAO_HOOKS=send"}, hooked[:2]...), "send_packet"},
		{"funds", append([]string{"HONGBAO_HOOK_FUND=on", "HONGBAO_EVENTS=transfer.*"}, hooked...), ""},
		{"texts are kept for days", []string{"HONGBAO_TEXTS_KEEP=365", "HONGBAO_RETENTION_HOURS=22-5", "HONGBAO_ACTS_KEEP=90"}, ""},
		{"texts are kept by kind of room", []string{"HONGBAO_TEXTS_KEEP=public:30, direct:0"}, ""},
		{"texts of an unknown kind", []string{"HONGBAO_TEXTS_KEEP=public:30,secret:1"}, "secret:1"},
		{"texts for no number of days", []string{"HONGBAO_TEXTS_KEEP=public"}, `"public" is`},
		{"texts for too many days", []string{"HONGBAO_TEXTS_KEEP=36501"}, "36501"},
		{"no hours of the day", []string{"HONGBAO_RETENTION_HOURS=22-25"}, "22-25"},
		{"hours that are none", []string{"HONGBAO_RETENTION_HOURS=5-5"}, "5-5"},
		{"acts for too few days", []string{"HONGBAO_ACTS_KEEP=89"}, "from 90 to"},
		{"acts for too many days", []string{"HONGBAO_ACTS_KEEP=36501"}, "HONGBAO_ACTS_KEEP=36501"},
		{"no room for replies", []string{"HONGBAO_MAX_REPLY_BYTES=16777215"}, "HONGBAO_MAX_REPLY_BYTES"},
		{"too many open packets", []string{"HONGBAO_MAX_OPEN_PACKETS=1000000001"}, "HONGBAO_MAX_OPEN_PACKETS"},
		{"no packets", []string{"HONGBAO_MAX_PACKET_COUNT=0"}, "HONGBAO_MAX_PACKET_COUNT"},
		{"packets beyond JSON", []string{"HONGBAO_MAX_PACKET_TOTAL=9007199254740992"}, "HONGBAO_MAX_PACKET_TOTAL"},
		{"credit beyond JSON", []string{"HONGBAO_GUEST_CREDIT=9007199254740992"}, "HONGBAO_GUEST_CREDIT"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := load("serve", nil, test.environ)
			if err == nil {
				err = c.checkServe()
			}
			if test.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want one that contains %s", err, test.want)
			}
		})
	}
}

func TestGuestsAreLocalOnlyWhenEmbeddedWithoutAKey(t *testing.T) {
	secret := "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)
	const scaled = " HONGBAO_REDIS_URL=redis://127.0.0.1 HONGBAO_DATABASE_URL=postgres://127.0.0.1/hongbao"
	for environ, want := range map[string]guestMode{
		"": guestsLocal, secret: guestsOff, "HONGBAO_JWT_JWKS_URL=https://keys.example.com/ HONGBAO_JWT_AUDIENCE=chat": guestsOff, secret + scaled: guestsOff, secret + scaled + " HONGBAO_GUESTS=local HONGBAO_GUEST_KEY=" + strings.Repeat("0f", 32): guestsLocal,
	} {
		c, err := load("serve", nil, strings.Fields(environ))
		noError(t, err)
		if err := c.checkServe(); err != nil || c.Guests != want {
			t.Errorf("with %q: guests %q, %v; want %q", environ, c.Guests, err, want)
		}
	}
}

func TestLobbyIsOnWhenEmbeddedWithPlayMoney(t *testing.T) {
	secret := "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)
	for environ, want := range map[string]onOff{
		"": "on", "HONGBAO_LOBBY=off": "off", "HONGBAO_ADDR=:80 HONGBAO_GUESTS=public": "on", "HONGBAO_GUEST_CREDIT=0": "", secret: "", secret + " HONGBAO_GUESTS=public": "",
		"HONGBAO_GUESTS=local HONGBAO_REDIS_URL=redis://127.0.0.1 HONGBAO_DATABASE_URL=postgres://127.0.0.1/hongbao HONGBAO_GUEST_KEY=" + strings.Repeat("0f", 32): "",
	} {
		c, err := load("serve", nil, strings.Fields(environ))
		noError(t, err)
		if err := c.checkServe(); err != nil || c.Lobby != want {
			t.Errorf("with %q: lobby %q, %v; want %q", environ, c.Lobby, err, want)
		}
	}
}

func TestCurrencyFormat(t *testing.T) {
	tests := []struct {
		text   string
		amount int64
		want   string
	}{
		{"CNY:2", 1234, "12.34 CNY"}, {"CNY:2", 5, "0.05 CNY"}, {"CNY:2", -1000, "-10.00 CNY"}, {"CNY:2", 0, "0.00 CNY"},
		{"JPY:0", 1234, "1234 JPY"}, {"KWD:3", 7, "0.007 KWD"},
	}
	for _, test := range tests {
		var c currency
		noError(t, c.UnmarshalText([]byte(test.text)))
		if got := c.format(test.amount); got != test.want {
			t.Errorf("%s %d: got %q, want %q", test.text, test.amount, got, test.want)
		}
	}
	for _, bad := range []string{"", "CNY", "CNY:", "CNY:-1", "CNY:7", ":2", "CNY:two"} {
		if err := new(currency).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("currency %q is accepted, want an error", bad)
		}
	}
}

// TestSettingsPageListsEverySubcommand looks for a row of each subcommand in the table of the settings page.
func TestSettingsPageListsEverySubcommand(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "web", "docs", "settings.md"))
	noError(t, err)
	_, table, _ := strings.Cut(string(text), "\n## Subcommands\n")
	for _, c := range append(commands(), command{name: "help"}) {
		if !strings.Contains(table, "\n| `"+c.name+"` | ") {
			t.Errorf("the table of subcommands in web/docs/settings.md has no row of %s", c.name)
		}
	}
}

// TestSettingsPageListsEverySetting compares the list of the settings page with the config, line by line.
func TestSettingsPageListsEverySetting(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "web", "docs", "settings.md"))
	noError(t, err)
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "- `HONGBAO_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	all := new(config).settings()
	for i, s := range all {
		if s.fromFile {
			continue // the line of the value names the file, too
		}
		row := "- `" + s.env + "`"
		if i+1 < len(all) && all[i+1].fromFile {
			row += ", `" + all[i+1].env + "`"
		}
		if s.fallback != "" {
			row += " = `" + s.fallback + "`"
		}
		if commands := strings.Join(s.commands, ", "); commands != "serve" {
			row += " (" + commands + ")"
		}
		want = append(want, row+": "+s.help)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list of web/docs/settings.md differs. It should be:\n%s", strings.Join(want, "\n"))
	}
}

// TestStopDependsOnTheMode checks how long a server takes to stop by default: behind a load balancer long enough to be noticed, alone on
// a laptop at most two seconds. Durations that are given stay, also 0.
func TestStopDependsOnTheMode(t *testing.T) {
	scaled := []string{"HONGBAO_DATABASE_URL=postgres://db/hongbao", "HONGBAO_REDIS_URL=redis://r:1/0", "HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)}
	for name, c := range map[string]struct {
		environ       []string
		delay, window time.Duration
	}{
		"embedded":      {nil, 0, time.Second},
		"scaled":        {scaled, 5 * time.Second, 20 * time.Second},
		"given":         {append([]string{"HONGBAO_DRAIN_DELAY=0s", "HONGBAO_DRAIN=3s"}, scaled...), 0, 3 * time.Second},
		"given, laptop": {[]string{"HONGBAO_DRAIN_DELAY=1s", "HONGBAO_DRAIN=0s"}, time.Second, 0},
	} {
		got, err := load("serve", nil, c.environ)
		noError(t, err)
		noError(t, got.checkServe())
		if got.DrainDelay.Duration != c.delay || got.Drain.Duration != c.window {
			t.Errorf("%s: delay %v, drain %v, want %v, %v", name, got.DrainDelay, got.Drain, c.delay, c.window)
		}
	}
}
