package web

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

// signedText makes a token of claims just as they are written, so that a name can come twice and in any order.
func signedText(t *testing.T, claims string) string {
	t.Helper()
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + b64([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, testSecret)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(signature)
}

// A host may let its users choose claims that it knows nothing of: they must not pass for those it vouches for.
func TestClaimsAreNamedExactly(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v, err := newVerifier(JWT{Secret: testSecret, Issuer: "host", Audience: "chat"}, testGuestKey, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	past, soon, later := now.Unix()-1, now.Unix()+60, now.Unix()+3600
	ann := identity{user: chat.User{ID: "ann", Name: "ann"}}
	admin, named := ann, identity{user: chat.User{ID: "ann", Name: "Ann", Avatar: "https://a/b.png"}}
	admin.admin = true
	issued, all := ann, named
	issued.issued = now.Add(-time.Second)
	all.admin, all.issued = true, issued.issued

	// Each is added to iss, aud, sub and exp, which are good; with what is named again the last one counts.
	for name, c := range map[string]struct {
		claims string
		want   identity
		err    error
	}{
		"all":          {claims: fmt.Sprintf(`"name":"Ann","avatar":"https://a/b.png","scope":"read admin","iat":%d,"nbf":%[1]d,"jti":"1"`, past), want: all},
		"none more":    {claims: `"room":"hall"`, want: ann},
		"scope again":  {claims: `"scope":"read","scope":"admin"`, want: admin},
		"no scope now": {claims: `"scope":"admin","scope":"read"`, want: ann},
		"escaped":      {claims: `"\u0073cope":"admin"`, want: admin},
		"over at last": {claims: fmt.Sprintf(`"exp":%d`, past), err: errTokenExpired},

		"SCOPE":             {claims: `"SCOPE":"admin"`, want: ann},
		"Scope after scope": {claims: `"scope":"read","Scope":"admin"`, want: ann},
		"Scope, then scope": {claims: `"Scope":"read","scope":"admin"`, want: admin},
		"long s":            {claims: `"ſcope":"admin"`, want: ann},
		"long s, escaped":   {claims: `"\u017fcope":"admin"`, want: ann},
		"Scope of no kind":  {claims: `"Scope":["admin"]`, want: ann},
		"Exp of one over":   {claims: fmt.Sprintf(`"exp":%d,"Exp":%d`, past, later), err: errTokenExpired},
		"Exp instead":       {claims: fmt.Sprintf(`"exp":null,"Exp":%d`, later), err: errTokenInvalid},
		"Exp in the past":   {claims: fmt.Sprintf(`"Exp":%d`, past), want: ann},
		"SUB":               {claims: `"SUB":"bob"`, want: ann},
		"long s in sub":     {claims: `"ſub":"bob"`, want: ann},
		"SUB instead":       {claims: `"sub":null,"SUB":"bob"`, err: errTokenInvalid},
		"Iat":               {claims: fmt.Sprintf(`"iat":%d,"Iat":%d`, past, later), want: issued},
		"Nbf":               {claims: fmt.Sprintf(`"nbf":%d,"Nbf":%d`, later, past), err: errTokenInvalid},
		"Iss of another":    {claims: `"iss":"x","Iss":"host"`, err: errTokenInvalid},
		"Aud of another":    {claims: `"aud":"mail","Aud":"chat"`, err: errTokenInvalid},
		"Name and Avatar":   {claims: `"name":"Ann","avatar":"https://a/b.png","Name":"Bob","Avatar":"https://b/c.png"`, want: named},

		"scope of no kind": {claims: `"scope":["admin"]`, err: errTokenInvalid},
		"exp of no kind":   {claims: `"exp":"soon"`, err: errTokenInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			good := fmt.Sprintf(`"iss":"host","aud":"chat","sub":"ann","exp":%d`, soon)
			got, err := v.verify(t.Context(), signedText(t, "{"+good+","+c.claims+"}"))
			if c.err == nil {
				c.want.expires = now.Add(time.Minute)
			}
			mustSay(t, got, err, c.want, c.err)
		})
	}
}
