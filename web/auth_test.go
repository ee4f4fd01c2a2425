package web

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
)

var testGuestKey = []byte("a guest key of exactly 32 bytes!")

// signed makes a token by hand.
func signed(t *testing.T, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestVerify(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v, err := newVerifier(JWT{Secret: testSecret, Issuer: "host", Audience: "chat"}, testGuestKey, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// with changes good claims; a nil value takes a claim out.
	with := func(pairs ...any) jwt.MapClaims {
		c := jwt.MapClaims{"sub": "ann", "iss": "host", "aud": "chat", "exp": now.Unix() + 60}
		for i := 0; i < len(pairs); i += 2 {
			c[pairs[i].(string)] = pairs[i+1]
			if pairs[i+1] == nil {
				delete(c, pairs[i].(string))
			}
		}
		return c
	}
	host := func(pairs ...any) string { return signed(t, jwt.SigningMethodHS256, testSecret, with(pairs...)) }
	guest := func(pairs ...any) string {
		pairs = append([]any{"sub", "guest:1", "iss", "hongbao-guest", "aud", nil}, pairs...)
		return signed(t, jwt.SigningMethodHS256, testGuestKey, with(pairs...))
	}
	long := strings.Repeat("x", 64)
	for name, c := range map[string]struct {
		token string
		want  identity
		err   error
	}{
		"good":       {token: host(), want: identity{user: chat.User{ID: "ann", Name: "ann"}}},
		"named":      {token: host("name", "Ann", "avatar", "https://a/b.png"), want: identity{user: chat.User{ID: "ann", Name: "Ann", Avatar: "https://a/b.png"}}},
		"admin":      {token: host("scope", "read admin"), want: identity{user: chat.User{ID: "ann", Name: "ann"}, admin: true}},
		"not admin":  {token: host("scope", "administrator"), want: identity{user: chat.User{ID: "ann", Name: "ann"}}},
		"all chars":  {token: host("sub", "aZ09_.:@-"), want: identity{user: chat.User{ID: "aZ09_.:@-", Name: "aZ09_.:@-"}}},
		"longest":    {token: host("sub", long), want: identity{user: chat.User{ID: long, Name: long}}},
		"two aud":    {token: host("aud", []string{"mail", "chat"}), want: identity{user: chat.User{ID: "ann", Name: "ann"}}},
		"long name":  {token: host("name", strings.Repeat("名", 70)), want: identity{user: chat.User{ID: "ann", Name: strings.Repeat("名", 64)}}},
		"NUL":        {token: host("name", "A\x00nn"), want: identity{user: chat.User{ID: "ann", Name: "Ann"}}},
		"guest":      {token: guest("name", "G"), want: identity{user: chat.User{ID: "guest:1", Name: "G"}}},
		"guest, iat": {token: guest("iat", now.Unix()+3600), want: identity{user: chat.User{ID: "guest:1", Name: "guest:1"}, issued: now.Add(time.Hour)}},
		"issued":     {token: host("iat", now.Unix()-5), want: identity{user: chat.User{ID: "ann", Name: "ann"}, issued: now.Add(-5 * time.Second)}},
		"in between": {token: host("iat", float64(now.Unix())-4.1), want: identity{user: chat.User{ID: "ann", Name: "ann"}, issued: now.Add(-5 * time.Second)}},

		"over this second":  {token: host("exp", now.Unix()), err: errTokenExpired},
		"over":              {token: host("exp", now.Unix()-1), err: errTokenExpired},
		"over guest":        {token: guest("exp", now.Unix()-1), err: errTokenExpired},
		"over and not ours": {token: host("exp", now.Unix()-1, "iss", "x"), err: errTokenInvalid},
		"over, no audience": {token: host("exp", now.Unix()-1, "aud", nil), err: errTokenInvalid},

		"empty":            {token: "", err: errTokenInvalid},
		"no token":         {token: "a.b.c", err: errTokenInvalid},
		"too long":         {token: host("name", strings.Repeat("x", maxToken)), err: errTokenInvalid},
		"other secret":     {token: signed(t, jwt.SigningMethodHS256, testGuestKey, with()), err: errTokenInvalid},
		"other algorithm":  {token: signed(t, jwt.SigningMethodHS512, testSecret, with()), err: errTokenInvalid},
		"no algorithm":     {token: signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, with()), err: errTokenInvalid},
		"changed":          {token: strings.Replace(host(), ".", ".e30", 1), err: errTokenInvalid},
		"no exp":           {token: host("exp", nil), err: errTokenInvalid},
		"not yet":          {token: host("nbf", now.Unix()+5), err: errTokenInvalid},
		"no sub":           {token: host("sub", nil), err: errTokenInvalid},
		"empty sub":        {token: host("sub", ""), err: errTokenInvalid},
		"sub of 65":        {token: host("sub", long+"x"), err: errTokenInvalid},
		"space in sub":     {token: host("sub", "a b"), err: errTokenInvalid},
		"slash in sub":     {token: host("sub", "a/b"), err: errTokenInvalid},
		"other issuer":     {token: host("iss", "x"), err: errTokenInvalid},
		"no issuer":        {token: host("iss", nil), err: errTokenInvalid},
		"other audience":   {token: host("aud", "mail"), err: errTokenInvalid},
		"host makes guest": {token: host("sub", "guest:1"), err: errTokenInvalid},
		"host as guests":   {token: host("sub", "guest:1", "iss", "hongbao-guest"), err: errTokenInvalid},
		"guests make ann":  {token: guest("sub", "ann"), err: errTokenInvalid},
		"guest key, host":  {token: guest("iss", "host", "aud", "chat"), err: errTokenInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := v.verify(t.Context(), c.token)
			if c.err == nil {
				c.want.expires = now.Add(time.Minute)
			}
			mustSay(t, got, err, c.want, c.err)
		})
	}
}

// mustSay looks at what a token tells, or why it is refused.
func mustSay(t *testing.T, got identity, err error, want identity, wantErr error) {
	t.Helper()
	if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, want %v", err, wantErr)
	}
	if got.user != want.user || got.admin != want.admin || !got.expires.Equal(want.expires) || !got.issued.Equal(want.issued) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestVerifierRefusesBadKeys(t *testing.T) {
	for name, c := range map[string]struct {
		host  JWT
		guest []byte
	}{
		"short secret":    {host: JWT{Secret: make([]byte, 31)}},
		"short guest key": {guest: make([]byte, 31)},
		"our own issuer":  {host: JWT{Secret: testSecret, Issuer: "hongbao-guest"}},
	} {
		if _, err := newVerifier(c.host, c.guest, time.Now, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	v, err := newVerifier(JWT{}, nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{goodToken(t, "ann"), signed(t, jwt.SigningMethodHS256, testGuestKey, jwt.MapClaims{"iss": "hongbao-guest"})} {
		if _, err := v.verify(t.Context(), token); !errors.Is(err, errTokenInvalid) {
			t.Errorf("without any key: %v", err)
		}
	}
}

func TestMintToken(t *testing.T) {
	for name, c := range map[string]struct {
		secret []byte
		user   string
	}{
		"short secret": {make([]byte, 31), "ann"},
		"no user":      {testSecret, ""},
		"bad user":     {testSecret, "a b"},
		"a guest":      {testSecret, "guest:1"},
	} {
		if _, err := MintToken(c.secret, Claims{User: c.user}, time.Hour); err == nil {
			t.Errorf("%s: minted", name)
		}
	}
}
