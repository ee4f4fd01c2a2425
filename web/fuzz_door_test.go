package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/hub"
)

// earOfBus is as much of a server as hears what the others say.
func earOfBus(f *testing.F) *Server {
	f.Helper()
	log := slog.New(slog.DiscardHandler)
	pub := NewPublisher(hub.New(hub.Options{Encode: NewEncoder().Encode, Ping: Ping}))
	return &Server{chat: chat.New(nil, pub, chat.Options{Log: log}), pub: pub, o: Options{Log: log}}
}

// FuzzVerify: no token is believed that was not signed, as it stands, with the key of whom it names.
func FuzzVerify(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	v, err := newVerifier(JWT{Secret: testSecret}, testGuestKey, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	const header = `{"alg":"HS256","typ":"JWT"}`
	for _, c := range []jwt.MapClaims{
		{"sub": "ann", "exp": now.Unix() + 60, "name": "Ann", "iat": now.Unix(), "scope": "admin"},
		{"sub": "guest:1", "exp": now.Unix() + 60, "iss": guestIssuer},
		{"sub": "guest:1", "exp": now.Unix() + 60},
		{"sub": "ann", "exp": now.Unix() + 60, "iss": guestIssuer},
		{"sub": "ann", "exp": 1e300, "aud": []string{"chat"}},
	} {
		f.Add(header, string(marshal(c)), []byte{})
	}
	f.Add(`{"alg":"none"}`, `{"sub":"ann","exp":1e10}`, []byte{})
	f.Add(`{"alg":"HS512","kid":7,"crit":["exp"]}`, `{"sub":"ann","exp":-1,"iat":1e30}`, []byte("signature"))
	f.Add(`{"alg":"RS256","kid":""}`, `{"sub":["ann"],"exp":"soon"}`, []byte("signature"))
	f.Fuzz(func(t *testing.T, header, payload string, forged []byte) {
		encode := base64.RawURLEncoding.EncodeToString
		text := encode([]byte(header)) + "." + encode([]byte(payload))
		_, _ = v.verify(t.Context(), header+"."+payload) // no token at all
		if who, err := v.verify(t.Context(), text+"."+encode(forged)); err == nil {
			t.Fatalf("%q was not signed, and is %+v", text, who)
		}
		for key, guests := range map[string]bool{string(testSecret): false, string(testGuestKey): true} {
			mac := hmac.New(sha256.New, []byte(key))
			mac.Write([]byte(text))
			token := text + "." + encode(mac.Sum(nil))
			who, err := v.verify(t.Context(), token)
			if err != nil {
				continue
			}
			if strings.HasPrefix(who.user.ID, guestPrefix) != guests || !chat.ValidUser(who.user.ID) || !who.expires.After(now) {
				t.Errorf("%s is %+v", payload, who)
			}
			if len([]rune(who.user.Name)) > nameChars || strings.ContainsRune(who.user.Name+who.user.Avatar, 0) {
				t.Errorf("%s is called %q", payload, who.user.Name)
			}
			if _, err := v.verify(t.Context(), text+"x."+encode(mac.Sum(nil))); err == nil {
				t.Errorf("%s is believed when it was changed", payload)
			}
		}
	})
}

// FuzzKeySet: a set of keys has only keys that are good for the one algorithm they are for.
func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"b","use":"sig","alg":"ES256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","kid":"c","n":"` + strings.Repeat("x", 342) + `","e":"AQAB"},{"kty":"RSA","n":"AQ","e":"AQ"}]}`))
	f.Add([]byte(`{"keys":[null,7,{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := parseKeySet(text)
		if err != nil {
			return
		}
		var keys []key
		for id := range set.byID {
			k, ok := set.find(id)
			if !ok || id == "" {
				t.Errorf("key %q", id)
			}
			keys = append(keys, k)
		}
		if k, ok := set.find(""); ok {
			keys = append(keys, k)
		}
		for _, k := range keys {
			if again, err := publicKey(k.key); err != nil || again.method != k.method {
				t.Errorf("a key of %s is for %s, %v", k.method, again.method, err)
			}
		}
	})
}

// FuzzForwarded: what somebody writes who is no proxy of ours, or in front of what one has written, makes him nobody else.
func FuzzForwarded(f *testing.F) {
	ours := prefixes("10.0.0.0/8", "2001:db8:1::/48")
	f.Add("1.2.3.4, 10.9.9.9", "198.51.100.1")
	f.Add("unknown,,[::1%x]:0", "2001:db8:2::7")
	f.Add("::ffff:10.0.0.1", "10.0.0.2")
	f.Fuzz(func(t *testing.T, written, client string) {
		from := func(peer string, lines ...string) string {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = peer
			for _, line := range lines {
				r.Header.Add("X-Forwarded-For", line)
			}
			return ours.client(r).String()
		}
		if got := from("203.0.113.5:99", written, client); got != "203.0.113.5" {
			t.Errorf("a stranger is %s", got)
		}
		at := address(client)
		if !at.IsValid() || ours.trusts(at) || strings.ContainsAny(client, ", ") {
			from("10.0.0.1:99", written, client) // it may be anybody, but must be somebody
			return
		}
		if got := from("10.0.0.1:99", written, client); got != at.String() {
			t.Errorf("%s is %s because he wrote %q", at, got, written)
		}
		neighbourhood(at)
	})
}
