package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// FuzzVerify checks that a token is accepted only if it is signed, unchanged, with the key of its issuer.
func FuzzVerify(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	v := newTestVerifier(f, JWT{Secret: testSecret}, testGuestKey, func() time.Time { return now })
	const header = `{"alg":"HS256","typ":"JWT"}`
	for _, c := range []jwt.MapClaims{
		{"sub": "ann", "exp": now.Unix() + 60, "name": "Ann", "iat": now.Unix(), "scope": DefaultAdminScope},
		{"sub": "guest:1", "exp": now.Unix() + 60, "iss": guestIssuer},
		{"sub": "guest:1", "exp": now.Unix() + 60, "iss": guestIssuer, "scope": DefaultAdminScope},
		{"sub": "guest:1", "exp": now.Unix() + 60},
		{"sub": "ann", "exp": now.Unix() + 60, "iss": guestIssuer},
		{"sub": "ann", "exp": 1e300, "aud": []string{"chat"}},
	} {
		payload, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(header, string(payload), []byte{})
	}
	f.Add(`{"alg":"none"}`, `{"sub":"ann","exp":1e10}`, []byte{})
	f.Add(`{"alg":"HS512","kid":7,"crit":["exp"]}`, `{"sub":"ann","exp":-1,"iat":1e30}`, []byte("signature"))
	f.Add(`{"alg":"RS256","kid":""}`, `{"sub":["ann"],"exp":"soon"}`, []byte("signature"))
	f.Fuzz(func(t *testing.T, header, payload string, forged []byte) {
		encode := base64.RawURLEncoding.EncodeToString
		text := encode([]byte(header)) + "." + encode([]byte(payload))
		_, _ = v.Verify(t.Context(), header+"."+payload) // not a token: it must not panic
		if id, err := v.Verify(t.Context(), text+"."+encode(forged)); err == nil {
			t.Fatalf("%q is not signed and was accepted as %+v", text, id)
		}
		for key, guests := range map[string]bool{string(testSecret): false, string(testGuestKey): true} {
			mac := hmac.New(sha256.New, []byte(key))
			mac.Write([]byte(text))
			token := text + "." + encode(mac.Sum(nil))
			id, err := v.Verify(t.Context(), token)
			if err != nil {
				continue
			}
			if id.Admin && guests || id.User.Guest() != guests || !chat.ValidUser(id.User.ID) || !id.Expires.After(now) {
				t.Errorf("%s was accepted as %+v", payload, id)
			}
			if len([]rune(id.User.Name)) > MaxNameChars || strings.ContainsRune(id.User.Name+id.User.Avatar, 0) {
				t.Errorf("%s has the name %q", payload, id.User.Name)
			}
			if _, err := v.Verify(t.Context(), text+"x."+encode(mac.Sum(nil))); err == nil {
				t.Errorf("%s was accepted after a change", payload)
			}
		}
	})
}

// FuzzKeySet checks that every key of a parsed set is valid for its one algorithm.
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
				t.Errorf("key %q is in the set, find returned %t", id, ok)
			}
			keys = append(keys, k)
		}
		if k, ok := set.find(""); ok {
			keys = append(keys, k)
		}
		for _, k := range keys {
			if again, err := publicKey(k.key); err != nil || again.method != k.method {
				t.Errorf("key of %s: publicKey returned %s, %v", k.method, again.method, err)
			}
		}
	})
}
