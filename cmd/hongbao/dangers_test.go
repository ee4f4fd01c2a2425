package main

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDangersAreNamed(t *testing.T) {
	const good = "d7f3b2a1904c6e58d7a3b2a1904c6e5813f09b7766e0d2ac41958a7c0be3f264"
	private, open := writeFile(t, good), writeFile(t, good)
	noError(t, os.Chmod(open, 0o644))
	hooked := []string{"HONGBAO_HOOK_URL=https://shop.example.com/hook", "HONGBAO_HOOK_SECRETS=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "HONGBAO_HOOKS=send,send_packet"}
	folder := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(folder, guestKeyFile), []byte(good), 0o644))
	pushFolder := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(pushFolder, pushKeyFile), []byte(good), 0o644))
	for name, c := range map[string]struct {
		environ []string
		want    string // part of the danger; empty: there is none
	}{
		"defaults":                  {nil, ""},
		"private file":              {[]string{"HONGBAO_JWT_SECRET_FILE=" + private}, ""},
		"file that all may read":    {[]string{"HONGBAO_JWT_SECRET_FILE=" + open}, open},
		"guests' key, all may read": {[]string{"HONGBAO_DATA_DIR=" + folder}, filepath.Join(folder, guestKeyFile)},
		"push key, all may read":    {[]string{"HONGBAO_DATA_DIR=" + pushFolder, "HONGBAO_PUSH_CONTACT=ops@example.com"}, filepath.Join(pushFolder, pushKeyFile)},
		"plain HTTP":                {[]string{"HONGBAO_JWT_SECRET=" + good, "HONGBAO_ADDR=0.0.0.0:8080"}, "HONGBAO_TRUSTED_PROXIES"},
		"behind a proxy":            {[]string{"HONGBAO_JWT_SECRET=" + good, "HONGBAO_ADDR=0.0.0.0:8080", "HONGBAO_TRUSTED_PROXIES=10.0.0.1"}, ""},
		"ends TLS itself":           {[]string{"HONGBAO_JWT_SECRET=" + good, "HONGBAO_ADDR=0.0.0.0:443", "HONGBAO_ACME_HOSTS=chat.example.com"}, ""},
		"key that all may read":     {[]string{"HONGBAO_TLS_CERT_FILE=cert.pem", "HONGBAO_TLS_KEY_FILE=" + open}, open},
		"one character":             {[]string{"HONGBAO_JWT_SECRET=" + strings.Repeat("s", 32)}, "HONGBAO_JWT_SECRET could be guessed"},
		"repeated":                  {[]string{"HONGBAO_JWT_SECRET=" + strings.Repeat("d7f3b2a1904c6e58", 2)}, "HONGBAO_JWT_SECRET could be guessed"},
		"a phrase":                  {[]string{"HONGBAO_JWT_SECRET=the Secret of our little product!!"}, "HONGBAO_JWT_SECRET could be guessed"},
		"a hook":                    {hooked, ""},
		"a hook that fails open":    {append([]string{"HONGBAO_HOOK_FAIL=send_packet:open"}, hooked...), "send_packet:open"},
		"a hook without encryption": {append([]string{"HONGBAO_HOOK_URL=http://10.0.0.1/hook", "HONGBAO_HOOK_ALLOW=10.0.0.1"}, hooked[1:]...), "plain HTTP"},
		"a hook on this machine":    {append([]string{"HONGBAO_HOOK_URL=http://127.0.0.1:9/hook", "HONGBAO_HOOK_ALLOW=127.0.0.1"}, hooked[1:]...), ""},
		"keys of a store of files":  {[]string{"HONGBAO_FILES=s3://files", "HONGBAO_FILES_KEY=access", "HONGBAO_FILES_SECRET=secretsecret"}, ""},
		"operator's token":          {[]string{"HONGBAO_OPS_TOKEN=12345678901234567890123456789012"}, "HONGBAO_OPS_TOKEN could be guessed"},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := load("serve", nil, append([]string{"HONGBAO_DATA_DIR=" + t.TempDir()}, c.environ...))
			if err == nil {
				err = settings.checkServe()
			}
			noError(t, err)
			list := settings.dangers()
			if c.want == "" && len(list) > 0 || c.want != "" && (len(list) != 1 || !strings.Contains(list[0], c.want)) {
				t.Errorf("dangers %q, want one with %q, or none if that is empty", list, c.want)
			}
			if text := strings.Join(list, " "); strings.Contains(text, good) {
				t.Errorf("the danger names the secret: %s", text)
			}
		})
	}
}

func TestRandomSecretsAreNotGuessable(t *testing.T) {
	for range 1000 {
		raw := make([]byte, 32)
		_, _ = rand.Read(raw)
		if text := hex.EncodeToString(raw); guessable(text) {
			t.Errorf("%s counts as guessable", text)
		}
	}
}
