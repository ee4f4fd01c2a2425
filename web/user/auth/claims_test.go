package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// signRaw returns a token whose payload is exactly the given JSON. So a test can repeat claims and choose their order.
func signRaw(t *testing.T, claims string) string {
	t.Helper()
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + b64([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, testSecret)
	noError(t, err)
	return text + "." + b64(signature)
}

// TestAbsentClaimsAreKept verifies tokens that leave out the name or the avatar. The identity must say so: what is stored
// must stay.
func TestAbsentClaimsAreKept(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := newTestVerifier(t, JWT{Secret: testSecret}, nil, func() time.Time { return now })
	for claims, want := range map[string]chat.Profile{
		``:                           {User: chat.User{ID: "ann", Name: "ann"}, KeepName: true, KeepAvatar: true},
		`,"name":null,"avatar":null`: {User: chat.User{ID: "ann", Name: "ann"}, KeepName: true, KeepAvatar: true},
		`,"Name":"Ann","AVATAR":"a"`: {User: chat.User{ID: "ann", Name: "ann"}, KeepName: true, KeepAvatar: true},
		`,"name":"Ann"`:              {User: chat.User{ID: "ann", Name: "Ann"}, KeepAvatar: true},
		`,"avatar":"a"`:              {User: chat.User{ID: "ann", Name: "ann", Avatar: "a"}, KeepName: true},
		`,"name":"","avatar":""`:     {User: chat.User{ID: "ann", Name: "ann"}},
		`,"name":"Ann","avatar":"` + strings.Repeat("a", MaxAvatarBytes+1) + `"`: {User: chat.User{ID: "ann", Name: "Ann"}, KeepAvatar: true},
	} {
		got, err := v.Verify(t.Context(), signRaw(t, fmt.Sprintf(`{"sub":"ann","exp":%d%s}`, now.Unix()+60, claims)))
		if err != nil || got.User != want {
			t.Errorf("claims %s: %+v, %v; want %+v", claims, got.User, err, want)
		}
	}
}

// TestClaimNamesMatchExactly verifies tokens with claims whose names differ from known ones in case only. Such a claim
// must not be read as the known one, because a host may let its users choose unknown claims.
func TestClaimNamesMatchExactly(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := newTestVerifier(t, JWT{Secret: testSecret, Issuer: "host", Audience: "chat"}, testGuestKey, func() time.Time { return now })
	past, soon, later := now.Unix()-1, now.Unix()+60, now.Unix()+3600
	ann := Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}}
	admin, named := ann, Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "Ann", Avatar: "https://a/b.png"}}}
	admin.Admin = true
	issued, all := ann, named
	issued.Issued = now.Add(-time.Second)
	all.Admin, all.Issued = true, issued.Issued

	// Each case adds claims after valid iss, aud, sub and exp. If a claim is repeated, the last value counts.
	for name, c := range map[string]struct {
		claims string
		want   Identity
		err    error
	}{
		"all":          {claims: fmt.Sprintf(`"name":"Ann","avatar":"https://a/b.png","scope":"read hongbao:admin","iat":%d,"nbf":%[1]d,"jti":"1"`, past), want: all},
		"unknown":      {claims: `"room":"hall"`, want: ann},
		"scope twice":  {claims: `"scope":"read","scope":"hongbao:admin"`, want: admin},
		"no scope now": {claims: `"scope":"hongbao:admin","scope":"read"`, want: ann},
		"escaped":      {claims: `"\u0073cope":"hongbao:admin"`, want: admin},
		"exp twice":    {claims: fmt.Sprintf(`"exp":%d`, past), err: ErrExpired},

		"SCOPE":               {claims: `"SCOPE":"hongbao:admin"`, want: ann},
		"Scope after scope":   {claims: `"scope":"read","Scope":"hongbao:admin"`, want: ann},
		"Scope, then scope":   {claims: `"Scope":"read","scope":"hongbao:admin"`, want: admin},
		"long s":              {claims: `"ſcope":"hongbao:admin"`, want: ann},
		"long s, escaped":     {claims: `"\u017fcope":"hongbao:admin"`, want: ann},
		"Scope is a list":     {claims: `"Scope":["hongbao:admin"]`, want: ann},
		"exp past, Exp later": {claims: fmt.Sprintf(`"exp":%d,"Exp":%d`, past, later), err: ErrExpired},
		"Exp instead":         {claims: fmt.Sprintf(`"exp":null,"Exp":%d`, later), err: ErrInvalid},
		"Exp in the past":     {claims: fmt.Sprintf(`"Exp":%d`, past), want: ann},
		"SUB":                 {claims: `"SUB":"bob"`, want: ann},
		"long s in sub":       {claims: `"ſub":"bob"`, want: ann},
		"SUB instead":         {claims: `"sub":null,"SUB":"bob"`, err: ErrInvalid},
		"Iat":                 {claims: fmt.Sprintf(`"iat":%d,"Iat":%d`, past, later), want: issued},
		"Nbf":                 {claims: fmt.Sprintf(`"nbf":%d,"Nbf":%d`, later, past), err: ErrInvalid},
		"wrong iss, Iss":      {claims: `"iss":"x","Iss":"host"`, err: ErrInvalid},
		"wrong aud, Aud":      {claims: `"aud":"mail","Aud":"chat"`, err: ErrInvalid},
		"Name and Avatar":     {claims: `"name":"Ann","avatar":"https://a/b.png","Name":"Bob","Avatar":"https://b/c.png"`, want: named},

		"scope is a list": {claims: `"scope":["hongbao:admin"]`, err: ErrInvalid},
		"exp is a word":   {claims: `"exp":"soon"`, err: ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			good := fmt.Sprintf(`"iss":"host","aud":"chat","sub":"ann","exp":%d`, soon)
			got, err := v.Verify(t.Context(), signRaw(t, "{"+good+","+c.claims+"}"))
			if c.err == nil {
				c.want.Expires = now.Add(time.Minute)
			}
			checkIdentity(t, got, err, c.want, c.err)
		})
	}
}

// TestPersonOfAToken verifies tokens that say what person the user is. A bad person must make the token invalid.
func TestPersonOfAToken(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := newTestVerifier(t, JWT{Secret: testSecret}, nil, func() time.Time { return now })
	longest := strings.Repeat("人", 64)
	for claim, want := range map[string]string{
		``: "", `,"person":null`: "", `,"person":""`: "", `,"person":"7f3a"`: "7f3a", `,"Person":"7f3a"`: "", `,"person":"` + longest + `"`: longest,
	} {
		got, err := v.Verify(t.Context(), signRaw(t, fmt.Sprintf(`{"sub":"ann","exp":%d%s}`, now.Unix()+60, claim)))
		if err != nil || got.Person != want {
			t.Errorf("%s: %q, %v, want %q", claim, got.Person, err, want)
		}
	}
	for _, claim := range []string{`,"person":"` + longest + `x"`, `,"person":"a\u0000"`, `,"person":7`, `,"person":["a"]`} {
		if got, err := v.Verify(t.Context(), signRaw(t, fmt.Sprintf(`{"sub":"ann","exp":%d%s}`, now.Unix()+60, claim))); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", claim, got, err)
		}
	}
}
