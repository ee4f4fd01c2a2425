package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hongbao/web/wire"
)

// errorsElsewhere are codes that S17 does not provoke.
var errorsElsewhere = []wire.Code{
	wire.CodeInternal, wire.CodeUnavailable, // nothing that a client can bring about
	wire.CodeUnauthorized,                             // over HTTP only
	wire.CodeAlreadySubscribed, wire.CodeNotAvailable, // S18
	wire.CodeTokenExpired,   // S02
	wire.CodeEditWindowOver, // takes two minutes
}

// errors: what a command is refused with is what the SDK shows.
func (s *stage) errors() {
	ann := s.connected("ann")
	refusals := s.refusals()
	for _, r := range refusals {
		ann.mustBeRefused(r.method, r.request, r.code)
	}
	for range 5 { // tries, one of which is made above
		_, _ = ann.call("grab", jsonText(refusals[wire.CodeWrongPassphrase].request))
	}
	limited := ann.mustBeRefused("grab", refusals[wire.CodeWrongPassphrase].request, wire.CodeRateLimited)
	if !strings.HasPrefix(limited.Message, "rate_limited retry_after_ms=") {
		s.t.Errorf("rate limited with %q", limited.Message)
	}
	for _, code := range wire.Codes() {
		if _, ok := refusals[code]; !ok && code != wire.CodeRateLimited && !slices.Contains(errorsElsewhere, code) {
			s.t.Errorf("nobody has tried how the SDK shows %d %s", code, code.Word())
		}
	}
}

// refusal is a command of ann's that is refused.
type refusal struct {
	code    wire.Code
	method  string
	request any
}

// refusals sets the stage for ann to be refused in every way.
func (s *stage) refusals() map[wire.Code]refusal {
	s.t.Helper()
	plain, muted, banned, left := s.room("bob", "public", "ann"), s.room("bob", "public", "ann"), s.room("bob", "public", "ann"), s.room("bob", "public", "ann")
	s.command("bob", "mute", wire.MuteRequest{Room: muted, User: "ann", Seconds: 3600})
	s.command("bob", "kick", wire.KickRequest{Room: banned, User: "ann", Ban: true})
	s.command("ann", "leave", wire.LeaveRequest{Room: left})
	s.command("ann", "send", wire.SendRequest{Room: plain, Key: "used", Text: "used"})
	recalled := s.say("bob", plain, "taken back")
	s.command("bob", "recall", wire.RecallRequest{Room: plain, Seq: recalled})
	s.post("root", "admin/credit", wire.AdjustRequest{User: "bob", Amount: 1000, Key: "bob"}, nil)
	s.post("root", "admin/credit", wire.AdjustRequest{User: "ann", Amount: 100, Key: "ann"}, nil)
	others := s.packet("bob", wire.SendPacketRequest{Room: plain, Count: new(1), To: []string{"bob"}})
	locked := s.packet("bob", wire.SendPacketRequest{Room: plain, Count: new(1), Passphrase: "sesame"})
	begun := s.packet("ann", wire.SendPacketRequest{Room: plain, Count: new(2)})
	s.command("bob", "grab", wire.GrabRequest{Packet: begun})

	said := func(room string) wire.SendRequest { return wire.SendRequest{Room: room, Key: s.key(), Text: "x"} }
	long, crowd, other := said(plain), said(plain), said(plain)
	long.Text, crowd.Mentions, other.Key = strings.Repeat("包", 4001), make([]string, 51), "used"
	for i := range crowd.Mentions {
		crowd.Mentions[i] = fmt.Sprint("u", i)
	}
	all := map[wire.Code]refusal{}
	for _, r := range []refusal{
		{wire.CodeForbidden, "kick", wire.KickRequest{Room: plain, User: "bob"}},
		{wire.CodeUnknownCommand, "fly", struct{}{}},
		{wire.CodeBadRequest, "send", struct{}{}},
		{wire.CodeNotFound, "join", wire.JoinRequest{Room: "none"}},
		{wire.CodeNotMember, "history", wire.HistoryRequest{Room: left}},
		{wire.CodeMuted, "send", said(muted)},
		{wire.CodeBanned, "join", wire.JoinRequest{Room: banned}},
		{wire.CodeTooLong, "send", long},
		{wire.CodeLimitExceeded, "send", crowd},
		{wire.CodeKeyReused, "send", other},
		{wire.CodeConflict, "react", wire.ReactRequest{Room: plain, Seq: recalled, Emoji: "👍", On: true}},
		{wire.CodeInsufficientBalance, "send_packet", wire.SendPacketRequest{Room: plain, Key: s.key(), Total: 101, Count: new(1)}},
		{wire.CodeNotRecipient, "grab", wire.GrabRequest{Packet: others}},
		{wire.CodeWrongPassphrase, "grab", wire.GrabRequest{Packet: locked, Passphrase: "open"}},
		{wire.CodePacketFinished, "cancel_packet", wire.CancelPacketRequest{Packet: begun}},
	} {
		all[r.code] = r
	}
	return all
}

// packet sends one of 10 and gives its id.
func (s *stage) packet(user string, r wire.SendPacketRequest) string {
	s.t.Helper()
	r.Key, r.Total = s.key(), 10
	var sent wire.SendPacketReply
	s.post(user, "commands/send_packet", r, &sent)
	return sent.Packet.ID
}

// mustBeRefused makes a command that is answered with an error, and compares all of it with what the table of codes says.
func (p *person) mustBeRefused(method string, request any, code wire.Code) (refused wire.Error) {
	p.t.Helper()
	_, err := p.call(method, jsonText(request))
	if !errors.As(err, &refused) {
		p.t.Errorf("%s %.200s: %v, want %d %s", method, jsonText(request), err, code, code.Word())
		return refused
	}
	p.mustShow(method, refused, code)
	return refused
}

func (p *person) mustShow(what string, got wire.Error, code wire.Code) {
	p.t.Helper()
	if word, _, _ := strings.Cut(got.Message, " "); got.Code != code || word != code.Word() || got.Temporary != code.Temporary() {
		p.t.Errorf("%s: the SDK shows %d %s, temporary %t; want %d %s, %t", what, got.Code, got.Message, got.Temporary, code, code.Word(), code.Temporary())
	}
}
