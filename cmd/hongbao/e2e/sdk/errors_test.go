package sdk

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// denial is what denyingHost says of rooms with the name denied.
const denial = `denied reason=%E8%AF%B7%E7%A8%8D%E7%AD%89 data=%7B%22captcha%22:1%7D`

// denyingHost starts a host that is asked before rooms are created, and returns the settings of servers that ask it.
func denyingHost(t *testing.T) []string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := `{"allow":true}`
		if strings.Contains(string(body), `"name":"denied"`) {
			answer = `{"allow":false,"reason":"请稍等","data":{"captcha":1}}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(site.Close)
	return []string{
		"HONGBAO_HOOK_URL=" + site.URL, "HONGBAO_HOOK_ALLOW=127.0.0.1", "HONGBAO_HOOK_SECRETS=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
		"HONGBAO_HOOKS=create_room", "HONGBAO_HOOK_TIMEOUT=5s",
	}
}

// errorsElsewhere are codes that the scenario errors (S17) does not cause.
var errorsElsewhere = []wire.Code{
	wire.CodeInternal, wire.CodeUnavailable, // no client can cause them
	wire.CodeUnauthorized,                             // over HTTP only
	wire.CodeAlreadySubscribed, wire.CodeNotAvailable, // S18
	wire.CodeTokenExpired,   // S02
	wire.CodeEditWindowOver, // would take two minutes
	wire.CodeWalletFrozen,   // the server API freezes wallets
	wire.CodeSuspended,      // the server API suspends users: their sockets are closed
}

// errors: the SDK shows the code, the word and the temporary flag of every refusal.
func (f *fixture) errors() {
	ann := f.connect("ann")
	refusals := f.refusals()
	for _, r := range refusals {
		ann.mustBeRefused(r.method, r.request, r.code)
	}
	for range 5 { // wrong passphrases, besides the one above
		_, _ = ann.call("grab", e2e.JSON(refusals[wire.CodeWrongPassphrase].request))
	}
	if denied := ann.mustBeRefused(refusals[wire.CodeDenied].method, refusals[wire.CodeDenied].request, wire.CodeDenied); denied.Message != denial {
		f.t.Errorf("the message of a denial is %q, want %q", denied.Message, denial)
	}
	limited := ann.mustBeRefused("grab", refusals[wire.CodeWrongPassphrase].request, wire.CodeRateLimited)
	if !strings.HasPrefix(limited.Message, "rate_limited retry_after_ms=") {
		f.t.Errorf("the message of a rate limit is %q, want rate_limited retry_after_ms=…", limited.Message)
	}
	for _, code := range wire.Codes() {
		if _, ok := refusals[code]; !ok && code != wire.CodeRateLimited && !slices.Contains(errorsElsewhere, code) {
			f.t.Errorf("error %d %s is in no scenario: add a refusal here, or the code to errorsElsewhere with the reason", code, code.Word())
		}
	}
}

// refusal is a command of ann that is refused.
type refusal struct {
	code    wire.Code
	method  string
	request any
}

// refusals prepares rooms and packets, and returns one refused command of ann for each code.
func (f *fixture) refusals() map[wire.Code]refusal {
	f.t.Helper()
	plain, muted, banned, left := f.room("bob", "public", "ann"), f.room("bob", "public", "ann"), f.room("bob", "public", "ann"), f.room("bob", "public", "ann")
	f.command("bob", "mute", wire.MuteRequest{Room: muted, User: "ann", Seconds: 3600})
	f.command("bob", "kick", wire.KickRequest{Room: banned, User: "ann", Ban: true})
	f.command("ann", "leave", wire.LeaveRequest{Room: left})
	f.command("ann", "send", wire.SendRequest{Room: plain, Key: "used", Text: "used"})
	f.command("cyn", "block", wire.BlockRequest{User: "ann"})
	recalled := f.say("bob", plain, "to be recalled")
	f.command("bob", "recall", wire.RecallRequest{Room: plain, Seq: recalled})
	f.post("root", "admin/credit", wire.AdjustRequest{User: "bob", Amount: 1000, Key: "bob"}, nil)
	f.post("root", "admin/credit", wire.AdjustRequest{User: "ann", Amount: 100, Key: "ann"}, nil)
	forBob := f.packet("bob", wire.SendPacketRequest{Room: plain, Count: new(1), To: []string{"bob"}})
	locked := f.packet("bob", wire.SendPacketRequest{Room: plain, Count: new(1), Passphrase: "sesame"})
	early := f.packet("bob", wire.SendPacketRequest{Room: plain, Count: new(1), OpensAt: new(time.Now().Add(time.Hour).UnixMilli())})
	later := f.room("bob", "public")
	earlier := f.packet("bob", wire.SendPacketRequest{Room: later, Count: new(1), EarlierMembers: true})
	f.command("ann", "join", wire.JoinRequest{Room: later})
	grabbed := f.packet("ann", wire.SendPacketRequest{Room: plain, Count: new(2)})
	f.command("bob", "grab", wire.GrabRequest{Packet: grabbed})

	send := func(room string) wire.SendRequest { return wire.SendRequest{Room: room, Key: f.key(), Text: "x"} }
	long, mentions, reused := send(plain), send(plain), send(plain)
	long.Text, mentions.Mentions, reused.Key = strings.Repeat("包", 4001), make([]string, 51), "used"
	for i := range mentions.Mentions {
		mentions.Mentions[i] = fmt.Sprint("u", i)
	}
	all := map[wire.Code]refusal{}
	for _, r := range []refusal{
		{wire.CodeForbidden, "kick", wire.KickRequest{Room: plain, User: "bob"}},
		{wire.CodeUnknownCommand, "fly", struct{}{}},
		{wire.CodeBadRequest, "send", struct{}{}},
		{wire.CodeNotFound, "join", wire.JoinRequest{Room: "none"}},
		{wire.CodeNotMember, "history", wire.HistoryRequest{Room: left}},
		{wire.CodeMuted, "send", send(muted)},
		{wire.CodeBanned, "join", wire.JoinRequest{Room: banned}},
		{wire.CodeTooLong, "send", long},
		{wire.CodeLimitExceeded, "send", mentions},
		{wire.CodeKeyReused, "send", reused},
		{wire.CodeConflict, "react", wire.ReactRequest{Room: plain, Seq: recalled, Emoji: "👍", On: true}},
		{wire.CodeInsufficientBalance, "send_packet", wire.SendPacketRequest{Room: plain, Key: f.key(), Total: 101, Count: new(1)}},
		{wire.CodeNotRecipient, "grab", wire.GrabRequest{Packet: forBob}},
		{wire.CodeJoinedLater, "grab", wire.GrabRequest{Packet: earlier}},
		{wire.CodeNotYet, "grab", wire.GrabRequest{Packet: early}},
		{wire.CodeWrongPassphrase, "grab", wire.GrabRequest{Packet: locked, Passphrase: "open"}},
		{wire.CodeContactRefused, "direct", wire.DirectRequest{User: "cyn"}},
		{wire.CodeDenied, "create_room", wire.CreateRoomRequest{Key: f.key(), Name: "denied", Kind: "public"}},
		{wire.CodePacketFinished, "cancel_packet", wire.CancelPacketRequest{Packet: grabbed}},
	} {
		all[r.code] = r
	}
	return all
}

// packet sends a packet of 10, and returns its id.
func (f *fixture) packet(user string, r wire.SendPacketRequest) string {
	f.t.Helper()
	r.Key, r.Total = f.key(), 10
	var sent wire.SendPacketReply
	f.post(user, "commands/send_packet", r, &sent)
	return sent.Packet.ID
}

// mustBeRefused sends a command that must be answered with an error code, and compares the whole error with the table of codes.
func (u *user) mustBeRefused(method string, request any, code wire.Code) (refused wire.Error) {
	u.t.Helper()
	_, err := u.call(method, e2e.JSON(request))
	if !errors.As(err, &refused) {
		u.t.Errorf("%s %.200s: error %v, want %d %s", method, e2e.JSON(request), err, code, code.Word())
		return refused
	}
	u.mustShow(method, refused, code)
	return refused
}

func (u *user) mustShow(what string, got wire.Error, code wire.Code) {
	u.t.Helper()
	if word, _, _ := strings.Cut(got.Message, " "); got.Code != code || word != code.Word() || got.Temporary != code.Temporary() {
		u.t.Errorf("%s: the SDK shows %d %s, temporary %t; want %d %s, temporary %t", what, got.Code, got.Message, got.Temporary, code, code.Word(), code.Temporary())
	}
}
