package auth

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth/authtest"
)

var (
	testSecret   = []byte("a secret of thirty-two bytes, or more")
	testGuestKey = []byte("a guest key of exactly 32 bytes!")
)

// newTestVerifier returns a verifier that logs nothing.
func newTestVerifier(t testing.TB, host JWT, guestKey []byte, now func() time.Time) *Verifier {
	t.Helper()
	v, err := NewVerifier(host, GuestKeys{Key: guestKey}, now, slog.New(slog.DiscardHandler))
	noError(t, err)
	return v
}

func TestVerify(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	v := newTestVerifier(t, JWT{Secret: testSecret, Issuer: "host", Audience: "chat"}, testGuestKey, func() time.Time { return now })
	// with returns valid claims with changes. pairs are names and values; a nil value removes the claim.
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
	host := func(pairs ...any) string { return authtest.Sign(t, jwt.SigningMethodHS256, testSecret, with(pairs...)) }
	guest := func(pairs ...any) string {
		pairs = append([]any{"sub", "guest:1", "iss", "hongbao-guest", "aud", nil}, pairs...)
		return authtest.Sign(t, jwt.SigningMethodHS256, testGuestKey, with(pairs...))
	}
	long := strings.Repeat("x", 64)
	for name, c := range map[string]struct {
		token string
		want  Identity
		err   error
	}{
		"good":                     {token: host(), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}}},
		"named":                    {token: host("name", "Ann", "avatar", "https://a/b.png"), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "Ann", Avatar: "https://a/b.png"}}}},
		"admin":                    {token: host("scope", "read hongbao:admin"), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}, Admin: true}},
		"not admin":                {token: host("scope", "hongbao:administrator"), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}}},
		"admin of another program": {token: host("scope", "openid admin"), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}}},
		"all chars":                {token: host("sub", "aZ09_.:@-"), want: Identity{User: chat.Profile{User: chat.User{ID: "aZ09_.:@-", Name: "aZ09_.:@-"}}}},
		"longest":                  {token: host("sub", long), want: Identity{User: chat.Profile{User: chat.User{ID: long, Name: long}}}},
		"two aud":                  {token: host("aud", []string{"mail", "chat"}), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}}},
		"long name":                {token: host("name", strings.Repeat("名", 70)), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: strings.Repeat("名", 64)}}}},
		"NUL":                      {token: host("name", "A\x00nn"), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "Ann"}}}},
		"guest":                    {token: guest("name", "G"), want: Identity{User: chat.Profile{User: chat.User{ID: "guest:1", Name: "G"}, KeepName: true, KeepAvatar: true}}},
		"guest, iat":               {token: guest("iat", now.Unix()-3600), want: Identity{User: chat.Profile{User: chat.User{ID: "guest:1", Name: "guest:1"}, KeepName: true, KeepAvatar: true}, Issued: now.Add(-time.Hour)}},
		"iat a bit ahead":          {token: host("iat", now.Unix()+10), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}, Issued: now.Add(10 * time.Second)}},
		"issued":                   {token: host("iat", now.Unix()-5), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}, Issued: now.Add(-5 * time.Second)}},
		"fraction":                 {token: host("iat", float64(now.Unix())-4.1), want: Identity{User: chat.Profile{User: chat.User{ID: "ann", Name: "ann"}}, Issued: now.Add(-5 * time.Second)}},

		"expires now":          {token: host("exp", now.Unix()), err: ErrExpired},
		"expired":              {token: host("exp", now.Unix()-1), err: ErrExpired},
		"expired guest":        {token: guest("exp", now.Unix()-1), err: ErrExpired},
		"expired, wrong iss":   {token: host("exp", now.Unix()-1, "iss", "x"), err: ErrInvalid},
		"expired, wrong aud":   {token: host("exp", now.Unix()-1, "aud", "x"), err: ErrInvalid},
		"expired, no audience": {token: host("exp", now.Unix()-1, "aud", nil), err: ErrInvalid},

		"no token":                 {token: "", err: ErrInvalid},
		"not a token":              {token: "a.b.c", err: ErrInvalid},
		"too long":                 {token: host("name", strings.Repeat("x", maxTokenBytes)), err: ErrInvalid},
		"other secret":             {token: authtest.Sign(t, jwt.SigningMethodHS256, testGuestKey, with()), err: ErrInvalid},
		"other algorithm":          {token: authtest.Sign(t, jwt.SigningMethodHS512, testSecret, with()), err: ErrInvalid},
		"no algorithm":             {token: authtest.Sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, with()), err: ErrInvalid},
		"changed":                  {token: strings.Replace(host(), ".", ".e30", 1), err: ErrInvalid},
		"no exp":                   {token: host("exp", nil), err: ErrInvalid},
		"not yet":                  {token: host("nbf", now.Unix()+5), err: ErrInvalid},
		"issued in the future":     {token: host("iat", now.Unix()+11), err: ErrInvalid},
		"expired before its issue": {token: host("iat", now.Unix()+11, "exp", now.Unix()-1), err: ErrInvalid},
		"guest is admin":           {token: guest("scope", "hongbao:admin"), err: ErrInvalid},
		"guest has a scope":        {token: guest("scope", "read"), err: ErrInvalid},
		"no sub":                   {token: host("sub", nil), err: ErrInvalid},
		"empty sub":                {token: host("sub", ""), err: ErrInvalid},
		"sub of 65":                {token: host("sub", long+"x"), err: ErrInvalid},
		"space in sub":             {token: host("sub", "a b"), err: ErrInvalid},
		"slash in sub":             {token: host("sub", "a/b"), err: ErrInvalid},
		"other issuer":             {token: host("iss", "x"), err: ErrInvalid},
		"no issuer":                {token: host("iss", nil), err: ErrInvalid},
		"other audience":           {token: host("aud", "mail"), err: ErrInvalid},
		"host names guest":         {token: host("sub", "guest:1"), err: ErrInvalid},
		"host as guest issuer":     {token: host("sub", "guest:1", "iss", "hongbao-guest"), err: ErrInvalid},
		"guest key names ann":      {token: guest("sub", "ann"), err: ErrInvalid},
		"guest key, host issuer":   {token: guest("iss", "host", "aud", "chat"), err: ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := v.Verify(t.Context(), c.token)
			if c.err == nil {
				c.want.Expires = now.Add(time.Minute)
			}
			checkIdentity(t, got, err, c.want, c.err)
		})
	}
}

// checkIdentity compares the results of Verify with the expected ones.
func checkIdentity(t *testing.T, got Identity, err error, want Identity, wantErr error) {
	t.Helper()
	if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, want %v", err, wantErr)
	}
	if got.User.User != want.User.User || got.Admin != want.Admin || !got.Expires.Equal(want.Expires) || !got.Issued.Equal(want.Issued) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNewVerifierRefusesBadKeys(t *testing.T) {
	for name, c := range map[string]struct {
		host  JWT
		guest []byte
	}{
		"short secret":    {host: JWT{Secret: make([]byte, 31)}},
		"short guest key": {guest: make([]byte, 31)},
		"guest issuer":    {host: JWT{Secret: testSecret, Issuer: "hongbao-guest"}},
	} {
		if _, err := NewVerifier(c.host, GuestKeys{Key: c.guest}, time.Now, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: NewVerifier accepted it, want an error", name)
		}
	}
}

func TestVerifierWithoutKeysRefusesAll(t *testing.T) {
	v := newTestVerifier(t, JWT{}, nil, time.Now)
	host, err := Sign(testSecret, Claims{User: "ann"}, time.Hour)
	noError(t, err)
	for _, token := range []string{host, authtest.Sign(t, jwt.SigningMethodHS256, testGuestKey, jwt.MapClaims{"iss": "hongbao-guest"})} {
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify returned %v, want ErrInvalid", err)
		}
	}
}

func TestSignRefusesBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		secret []byte
		user   string
	}{
		"short secret": {make([]byte, 31), "ann"},
		"no user":      {testSecret, ""},
		"bad user":     {testSecret, "a b"},
		"a guest":      {testSecret, "guest:1"},
	} {
		if _, err := Sign(c.secret, Claims{User: c.user}, time.Hour); err == nil {
			t.Errorf("%s: Sign returned a token, want an error", name)
		}
	}
}

// TestTokensForOtherProgramsAreRefused verifies tokens of an identity provider that signs tokens for several programs
// with one key. Only a token whose audience is this server may open it.
func TestTokensForOtherProgramsAreRefused(t *testing.T) {
	k := hostKeys()
	now := time.Now()
	token := func(claims jwt.MapClaims) string {
		claims["sub"], claims["exp"] = "ann", now.Unix()+60
		return authtest.Sign(t, jwt.SigningMethodEdDSA, k.ed, claims)
	}
	both := JWT{PublicKey: pkix(t, k.ed.Public()), Issuer: "host", Audience: "chat"}
	issuer, audience := both, both
	issuer.Audience, audience.Issuer = "", ""
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		want   map[*JWT]bool // whether the token is accepted
	}{
		"for this server": {jwt.MapClaims{"iss": "host", "aud": "chat"}, map[*JWT]bool{&both: true, &audience: true, &issuer: false}},
		"for several":     {jwt.MapClaims{"iss": "host", "aud": []string{"mail", "chat"}}, map[*JWT]bool{&both: true, &audience: true, &issuer: false}},
		"for another":     {jwt.MapClaims{"iss": "host", "aud": "mail"}, map[*JWT]bool{&both: false, &audience: false, &issuer: false}},
		"for any":         {jwt.MapClaims{"iss": "host"}, map[*JWT]bool{&both: false, &audience: false, &issuer: true}},
		"by another":      {jwt.MapClaims{"iss": "other"}, map[*JWT]bool{&both: false, &audience: false, &issuer: false}},
	} {
		for host, want := range c.want {
			v := newTestVerifier(t, *host, nil, time.Now)
			if _, err := v.Verify(t.Context(), token(c.claims)); (err == nil) != want || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("token %s, with issuer %q and audience %q: %v, want accepted: %t", name, host.Issuer, host.Audience, err, want)
			}
		}
	}
}

func TestAdminScopeHasTheConfiguredName(t *testing.T) {
	for scope, want := range map[string]bool{"root": true, "read root": true, DefaultAdminScope: false, "admin": false} {
		token, err := Sign(testSecret, Claims{User: "ann", Scope: scope}, time.Hour)
		noError(t, err)
		id, err := newTestVerifier(t, JWT{Secret: testSecret, AdminScope: "root"}, nil, time.Now).Verify(t.Context(), token)
		if err != nil || id.Admin != want {
			t.Errorf("scope %q, with root as the admin scope: admin %t, %v; want %t", scope, id.Admin, err, want)
		}
	}
}

// TestSecretsAreReplacedWithoutABreak changes the host's secret and the guests' key. Tokens of the previous ones must be
// accepted until these are removed.
func TestSecretsAreReplacedWithoutABreak(t *testing.T) {
	newSecret, newKey := []byte(strings.Repeat("n", 32)), []byte(strings.Repeat("g", 32))
	signed := func(token string, err error) string {
		t.Helper()
		noError(t, err)
		return token
	}
	guest := chat.User{ID: NewGuestID()}
	before := []string{signed(Sign(testSecret, Claims{User: "ann"}, time.Hour)), signed(SignGuest(testGuestKey, guest, time.Now(), time.Hour))}
	after := []string{signed(Sign(newSecret, Claims{User: "ann"}, time.Hour)), signed(SignGuest(newKey, guest, time.Now(), time.Hour))}
	for name, c := range map[string]struct {
		host          JWT
		guests        GuestKeys
		before, after bool // whether these tokens are accepted
	}{
		"before": {JWT{Secret: testSecret}, GuestKeys{Key: testGuestKey}, true, false},
		"both":   {JWT{Secret: newSecret, PreviousSecret: testSecret}, GuestKeys{Key: newKey, Previous: testGuestKey}, true, true},
		"after":  {JWT{Secret: newSecret}, GuestKeys{Key: newKey}, false, true},
	} {
		v, err := NewVerifier(c.host, c.guests, time.Now, slog.New(slog.DiscardHandler))
		noError(t, err)
		for i := range before {
			if _, err := v.Verify(t.Context(), before[i]); (err == nil) != c.before {
				t.Errorf("%s the change: a token of the old key: %v, want accepted: %t", name, err, c.before)
			}
			if _, err := v.Verify(t.Context(), after[i]); (err == nil) != c.after {
				t.Errorf("%s the change: a token of the new key: %v, want accepted: %t", name, err, c.after)
			}
		}
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
