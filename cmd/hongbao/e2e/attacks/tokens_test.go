package attacks

import (
	"crypto/ed25519"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/auth"
	"hongbao/web/auth/authtest"
	"hongbao/web/wire"
)

// TestTokenOfAnotherProgram sends tokens that an identity provider has signed with the same key for another program, and ID tokens.
func TestTokenOfAnotherProgram(t *testing.T) {
	keys := authtest.NewKeyServer(t)
	public, private, err := ed25519.GenerateKey(nil)
	e2e.NoError(t, err)
	keys.Respond(http.StatusOK, authtest.JWKS(t, authtest.JWK(t, public, "kid", "k")))
	jwks := "HONGBAO_JWT_JWKS_URL=" + keys.URL
	_, err = e2e.TryStart(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", jwks)
	if err == nil || !strings.Contains(err.Error(), "audience") {
		t.Errorf("a server that accepts tokens for any program: %v, want an error that names the audience", err)
	}
	s := start(t, jwks, "HONGBAO_JWT_AUDIENCE=chat", "HONGBAO_JWT_ISSUER=https://id.example.com/")
	token := func(typ string, changes jwt.MapClaims) string {
		claims := jwt.MapClaims{"sub": "ann", "iss": "https://id.example.com/", "aud": "chat", "exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(claims, changes)
		unsigned := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
		unsigned.Header["kid"], unsigned.Header["typ"] = "k", typ
		signed, err := unsigned.SignedString(private)
		e2e.NoError(t, err)
		return signed
	}
	mustAnswer(t, s, http.StatusOK, token("at+jwt", nil), "commands/wallet", wire.WalletRequest{})
	for name, forged := range map[string]string{
		"other audience":       token("JWT", jwt.MapClaims{"aud": "mail"}),
		"other issuer":         token("JWT", jwt.MapClaims{"iss": "https://id.example.net/"}),
		"ID token":             token("id+jwt", nil),
		"issued in the future": token("JWT", jwt.MapClaims{"iat": time.Now().Add(30 * time.Second).Unix()}),
	} {
		if status, answer, err := s.Post(forged, "commands/wallet", wire.WalletRequest{}); err != nil || status != http.StatusUnauthorized {
			t.Errorf("%s: status %d, %v, want 401: %s", name, status, err, answer)
		}
	}
	credit := wire.AdjustRequest{User: "ann", Amount: 1, Key: "theft"}
	mustAnswer(t, s, http.StatusForbidden, token("JWT", jwt.MapClaims{"scope": "openid admin"}), "admin/credit", credit)
	mustAnswer(t, s, http.StatusOK, token("JWT", jwt.MapClaims{"scope": "openid hongbao:admin"}), "admin/credit", credit)
}

// TestTokenFromTheFutureOutlivesNoRevocation revokes a user whose token says that it will be issued in a minute.
func TestTokenFromTheFutureOutlivesNoRevocation(t *testing.T) {
	s := start(t, "HONGBAO_JWT_SECRET="+secret)
	claims := jwt.MapClaims{"sub": "ann", "iat": time.Now().Add(time.Minute).Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	future := authtest.Sign(t, jwt.SigningMethodHS256, []byte(secret), claims)
	admin := hostToken(t, auth.Claims{User: "root", Scope: "hongbao:admin"})
	mustAnswer(t, s, http.StatusOK, admin, "admin/disconnect", wire.DisconnectRequest{User: "ann"})
	mustAnswer(t, s, http.StatusUnauthorized, future, "commands/wallet", wire.WalletRequest{})
}

// TestTokenWithoutANameWipesNothing calls with a token that says neither name nor avatar, over HTTP and over a socket. Others must see
// the name and avatar of the user's other token as before.
func TestTokenWithoutANameWipesNothing(t *testing.T) {
	s := start(t, "HONGBAO_JWT_SECRET="+secret)
	named := hostToken(t, auth.Claims{User: "ann", Name: "Ann", Avatar: "https://a/b.png"})
	var created wire.CreateRoomReply
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, named, "commands/create_room",
		wire.CreateRoomRequest{Key: "room", Name: "hall", Kind: "public"}), &created))
	nameless := hostToken(t, auth.Claims{User: "ann"})
	mustAnswer(t, s, http.StatusOK, nameless, "commands/wallet", wire.WalletRequest{})
	c := e2e.Connect(t, s, wire.GuestReply{Token: nameless, User: wire.User{ID: "ann"}}, false)
	e2e.Call[wire.SendReply](c, "send", wire.SendRequest{Room: created.Room.ID, Key: "text", Text: "hello"})
	var history wire.HistoryReply
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, nameless, "commands/history", wire.HistoryRequest{Room: created.Room.ID}), &history))
	last := history.Entries[len(history.Entries)-1]
	if want := (wire.User{ID: "ann", Name: "Ann", Avatar: "https://a/b.png"}); last.Key != "text" || last.From != want {
		t.Errorf("the text is by %+v, want %+v", last.From, want)
	}
	var members wire.MembersReply
	e2e.NoError(t, json.Unmarshal(mustAnswer(t, s, http.StatusOK, nameless, "commands/members", wire.MembersRequest{Room: created.Room.ID}), &members))
	if got := members.Members[0].User; got.Name != "Ann" || got.Avatar != "https://a/b.png" {
		t.Errorf("the member is %+v, want Ann", got)
	}
}
