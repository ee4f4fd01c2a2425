package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	cookieName = "hongbao_console"
	cookiePath = "/console"

	idleEnd     = 30 * time.Minute // a session without requests of the person ends
	absoluteEnd = 12 * time.Hour   // every session ends
	renewAfter  = time.Minute      // a cookie that is younger is not made anew
	clockSkew   = time.Minute      // how far the clock of another instance may be ahead
)

// session is the content of the cookie. The random nonce of its encryption makes each cookie another one.
type session struct {
	Hash   [sha256.Size]byte `json:"hash"` // of the key's secret
	Person string            `json:"person"`
	Began  int64             `json:"began"` // Unix seconds
	Seen   int64             `json:"seen"`  // last request of the person
}

var errNoSession = errors.New("no valid session")

// sealer encrypts sessions. All instances have the same key, so each reads the cookies of the others.
type sealer struct{ aead cipher.AEAD }

// newSealer returns a sealer. The key has 32 bytes.
func newSealer(key []byte) (sealer, error) {
	own := sha256.Sum256(append([]byte("hongbao console session 1\x00"), key...))
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

// seal returns the session as the value of a cookie.
func (s sealer) seal(of session) (string, error) {
	plain, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("encode session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(cookieName))), nil
}

// open returns the session of a cookie, unless it has ended.
func (s sealer) open(value string, now time.Time) (of session, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return session{}, errNoSession
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(cookieName))
	if err != nil || json.Unmarshal(plain, &of) != nil {
		return session{}, errNoSession
	}
	seen, began := now.Sub(time.Unix(of.Seen, 0)), now.Sub(time.Unix(of.Began, 0))
	if seen >= idleEnd || began >= absoluteEnd || seen < -clockSkew || began < -clockSkew {
		return session{}, errNoSession
	}
	return of, nil
}

// setCookie gives the browser a session. Browsers send the cookie only to the console, and only for requests of its own pages. Over TLS, also that of
// a proxy, they never send it without TLS.
func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	c := &http.Cookie{ //nolint:gosec // Secure unless the listener has no TLS, which is for loopback only
		Name: cookieName, Value: value, Path: cookiePath, MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// cookies returns the values of all cookies with the console's name. A page of a neighbouring host name may have set another one.
func cookies(r *http.Request) (values []string) {
	for _, c := range r.CookiesNamed(cookieName) {
		values = append(values, c.Value)
	}
	return values[:min(len(values), maxCookies)]
}

// maxCookies bounds how many cookies of one request are decrypted.
const maxCookies = 4

// randomID returns an id for the log of acts.
func randomID() string { return "console-" + rand.Text() }
