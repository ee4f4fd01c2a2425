package auth

import (
	"encoding/base64"
	"testing"
	"time"

	"hongbao/store/enginetest"
)

// TestTokensAreLinear verifies long tokens, and decodes long claims. The work must grow in proportion to the text.
func TestTokensAreLinear(t *testing.T) {
	v := newTestVerifier(t, JWT{Secret: testSecret}, testGuestKey, time.Now)
	encode := base64.RawURLEncoding.EncodeToString
	enginetest.Linear(t, "token", func(text string) { _, _ = v.Verify(t.Context(), text) })
	enginetest.Linear(t, "header", func(text string) { _, _ = v.Verify(t.Context(), encode([]byte(`{"alg":"`+text+`"}`))+".e30.x") })
	for name, form := range map[string][2]string{"whole": {``, ``}, "string": {`{"sub":"`, `"}`}, "name": {`{"`, `":1}`}, "list": {`{"aud":[`, `]}`}} {
		enginetest.Linear(t, "claims: "+name, func(text string) { _ = new(tokenClaims).UnmarshalJSON([]byte(form[0] + text + form[1])) })
	}
	enginetest.Linear(t, "name of a token", func(text string) { cleanName(text) })
}
