package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dangers returns warnings about settings of a server that may be unsafe. The server starts nevertheless: the network or the files
// may be protected in a way that the program cannot see.
func (c *config) dangers() (list []string) {
	if local, err := isLocal(c.Addr); err == nil && !local && !c.usesTLS() && len(c.TrustedProxies) == 0 {
		list = append(list, fmt.Sprintf("HONGBAO_ADDR=%s takes plain HTTP from other machines, so others on the way can read tokens: "+
			"set HONGBAO_TLS_CERT_FILE or HONGBAO_ACME_HOSTS, or put a load balancer with TLS in front and set HONGBAO_TRUSTED_PROXIES to its address", c.Addr))
	}
	if local, err := isLocal(c.APIAddr); c.APIKeysFile != "" && err == nil && !local && !c.usesTLS() {
		list = append(list, fmt.Sprintf("HONGBAO_API_ADDR=%s takes plain HTTP from other machines, so others on the way can read API keys: "+
			"set HONGBAO_TLS_CERT_FILE, or listen on 127.0.0.1 behind a proxy with TLS", c.APIAddr))
	}
	if slices.Contains(c.Hooks, "send_packet") && c.HookFail["send_packet"] {
		list = append(list, "HONGBAO_HOOK_FAIL has send_packet:open, so packets are sent without your answer while HONGBAO_HOOK_URL fails: "+
			"leave it out, or say send_packet:closed")
	}
	if strings.HasPrefix(c.HookURL, "http://") {
		if local, err := isLocal(hostPort(c.HookURL)); err == nil && !local {
			list = append(list, "HONGBAO_HOOK_URL uses plain HTTP to another machine, so others on the way can read texts of users, and forge answers: use https://")
		}
	}
	files := c.secretFiles
	if c.TLSKeyFile != "" {
		files = append(files, c.TLSKeyFile)
	}
	if !c.scaled() && c.GuestKey == "" {
		files = append(files, filepath.Join(c.DataDir, guestKeyFile), filepath.Join(c.DataDir, guestKeyOldFile))
	}
	if !c.scaled() && c.PushContact != "" && c.PushKey == "" {
		files = append(files, filepath.Join(c.DataDir, pushKeyFile))
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o004 != 0 {
			list = append(list, fmt.Sprintf("every user of this machine may read the secret in %s: run chmod o-r on it", name))
		}
	}
	for _, s := range c.settings() {
		givenOut := strings.HasPrefix(s.env, "HONGBAO_FILES_") // by the object store
		if s.secret == "value" && !givenOut && guessable(s.field.String()) {
			list = append(list, s.env+" could be guessed: use what `openssl rand -hex 32` prints")
		}
	}
	return list
}

// hostPort returns host:port of an http:// URL, with port 80 if it names none. It returns "" if the text is no URL.
func hostPort(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))
}

// guessable reports whether a secret looks as if a person had made it up. A random secret of 32 bytes practically never does.
func guessable(secret string) bool {
	if secret == "" {
		return false
	}
	distinct := map[byte]bool{}
	for i := range len(secret) {
		distinct[secret[i]] = true
	}
	if len(distinct) < 8 || strings.Contains((secret + secret)[1:2*len(secret)-1], secret) { // few different bytes, or one part repeated
		return true
	}
	lower := strings.ToLower(secret)
	for _, word := range []string{"secret", "password", "changeme", "change-me", "change_me", "hongbao", "example", "12345678", "qwerty"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
