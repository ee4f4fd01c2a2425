package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"hongbao/chat"
	"hongbao/web/wire"
)

// provocation is a request that causes a certain error, and the user that sends it.
type provocation struct {
	user string // empty: ann
	data object
}

// provocation returns a request that the command answers with the code. Its data is nil if no such request is known.
func (s *errorFixture) provocation(method string, code wire.Code) provocation {
	if p, ok := s.special(method, code); ok {
		return p
	}
	if code == wire.CodeDenied {
		return provocation{user: "suspect", data: s.request(method, s.rooms["plain"], s.open)}
	}
	where := map[wire.Code]struct{ room, packet string }{
		wire.CodeNotFound:  {"none", "none"},
		wire.CodeNotMember: {"outside", s.left},
		wire.CodeMuted:     {"muted", ""},
		wire.CodeBanned:    {"banned", s.banned},
		wire.CodeForbidden: {"plain", s.open},
	}
	if at, ok := where[code]; ok {
		return provocation{data: s.request(method, s.rooms[at.room], at.packet)}
	}
	return provocation{}
}

// special returns a request for errors that do not follow from the choice of room and packet alone. ok is false if
// there is none.
func (s *errorFixture) special(method string, code wire.Code) (provocation, bool) {
	plain, mine := s.request(method, s.rooms["plain"], s.open), s.request(method, s.rooms["mine"], s.mine)
	p, ok := map[string]map[wire.Code]provocation{
		"create_room": {
			wire.CodeForbidden:      {data: changed(s.request(method, "", ""), "members", []string{"guest:any"}, "guests", false)},
			wire.CodeTooLong:        {data: changed(s.request(method, "", ""), "name", long(65))},
			wire.CodeLimitExceeded:  {user: "full", data: s.request(method, "", "")},
			wire.CodeKeyReused:      {data: object{"key": "room-mine", "name": "other"}},
			wire.CodeContactRefused: {data: changed(s.request(method, "", ""), "members", []string{"shy"})},
		},
		"users": {wire.CodeLimitExceeded: {data: object{"users": slices.Repeat([]string{"bob"}, 101)}}},
		"block": {wire.CodeLimitExceeded: {user: "full", data: s.request(method, "", "")}},
		"direct": {
			wire.CodeContactRefused: {user: "shy", data: object{"user": "ann"}},
			wire.CodeLimitExceeded:  {data: object{"user": "full"}},
		},
		"join": {
			wire.CodeForbidden:     {data: object{"room": s.rooms["expelled"]}},
			wire.CodeNotFound:      {data: object{"room": s.rooms["private"]}},
			wire.CodeLimitExceeded: {user: "full", data: plain},
		},
		"find_rooms": {wire.CodeTooLong: {data: object{"query": long(65)}}},
		"search":     {wire.CodeTooLong: {data: object{"words": long(201)}}},
		"begin_file": {
			wire.CodeTooLong:       {data: changed(plain, "size", int64(25<<20+1))},
			wire.CodeLimitExceeded: {data: changed(plain, "size", int64(testFilesTotal+1))},
		},
		"cancel_file": {wire.CodeConflict: {data: object{"room": s.rooms["plain"], "file": s.sentFile}}},
		"file_links":  {wire.CodeLimitExceeded: {data: changed(plain, "files", slices.Repeat([]string{"f"}, 101))}},
		"invite": {
			wire.CodeForbidden:      {data: s.request(method, s.rooms["direct"], "")},
			wire.CodeLimitExceeded:  {data: changed(mine, "users", []string{"full"})},
			wire.CodeContactRefused: {data: changed(mine, "users", []string{"shy"})},
		},
		"create_link": {
			wire.CodeForbidden:     {data: s.request(method, s.rooms["direct"], "")},
			wire.CodeLimitExceeded: {data: changed(mine, "max_uses", 100_001)},
			wire.CodeKeyReused:     {data: changed(mine, "key", "link-mine")},
		},
		"answer_request": {
			wire.CodeForbidden:     {data: s.request(method, s.rooms["direct"], "")},
			wire.CodeLimitExceeded: {data: mine},
		},
		"set_rules":   {wire.CodeForbidden: {data: s.request(method, s.rooms["direct"], "")}},
		"answer_text": {wire.CodeConflict: {data: object{"room": s.rooms["ruled"], "id": s.held, "admit": true}}},
		"join_link": {
			wire.CodeForbidden:     {user: "guest:mei", data: object{"code": s.closedCode}},
			wire.CodeNotFound:      {data: object{"code": "none"}},
			wire.CodeBanned:        {data: object{"code": s.bannedCode}},
			wire.CodeLimitExceeded: {user: "full", data: object{"code": s.code}},
		},
		"kick":        {wire.CodeTooLong: {data: changed(mine, "ban", true, "reason", long(201))}},
		"update_room": {wire.CodeTooLong: {data: changed(mine, "announcement", long(1001))}},
		"send": {
			wire.CodeForbidden:      {data: changed(plain, "room", s.rooms["frozen"])},
			wire.CodeTooLong:        {data: changed(plain, "text", long(4001))},
			wire.CodeLimitExceeded:  {data: changed(plain, "mentions", make51())},
			wire.CodeKeyReused:      {data: changed(plain, "key", "room-mine")},
			wire.CodeContactRefused: {data: changed(plain, "room", s.rooms["deserted"])},
			wire.CodeConflict:       {data: changed(plain, "files", []string{"none"})},
		},
		"edit": {
			wire.CodeForbidden:      {data: changed(plain, "seq", s.heard)},
			wire.CodeTooLong:        {data: changed(plain, "text", long(4001))},
			wire.CodeConflict:       {data: changed(mine, "seq", s.taken)},
			wire.CodeEditWindowOver: {data: changed(plain, "seq", s.said)},
			wire.CodeContactRefused: {data: s.request(method, s.rooms["deserted"], "")},
		},
		"recall": {
			wire.CodeForbidden:      {data: changed(plain, "seq", s.heard)},
			wire.CodeEditWindowOver: {data: changed(plain, "seq", s.said)},
		},
		"react": {
			wire.CodeForbidden:      {data: s.request(method, s.rooms["frozen"], "")},
			wire.CodeTooLong:        {data: changed(plain, "emoji", long(17))},
			wire.CodeLimitExceeded:  {data: changed(plain, "seq", s.crowded)},
			wire.CodeConflict:       {data: changed(mine, "seq", s.taken)},
			wire.CodeContactRefused: {data: s.request(method, s.rooms["deserted"], "")},
		},
		"send_packet": {
			wire.CodeForbidden:           {data: changed(plain, "room", s.rooms["frozen"])},
			wire.CodeTooLong:             {data: changed(plain, "greeting", long(61))},
			wire.CodeLimitExceeded:       {data: changed(plain, "total", 20_000_001)},
			wire.CodeKeyReused:           {data: changed(plain, "key", "room-mine")},
			wire.CodeConflict:            {data: changed(plain, "commitment", "00")},
			wire.CodeInsufficientBalance: {data: changed(plain, "total", 20_000_000)},
			wire.CodeContactRefused:      {data: changed(plain, "room", s.rooms["deserted"])},
			wire.CodeWalletFrozen:        {user: "cold", data: plain},
		},
		"grab": {
			wire.CodeLimitExceeded:   {user: "cold", data: object{"packet": s.open}},
			wire.CodeNotRecipient:    {data: object{"packet": s.others}},
			wire.CodeJoinedLater:     {data: object{"packet": s.earlier}},
			wire.CodeNotYet:          {data: object{"packet": s.early}},
			wire.CodeWrongPassphrase: {data: object{"packet": s.locked, "passphrase": "open"}},
		},
		"report": {
			wire.CodeTooLong:   {data: changed(plain, "text", long(501))},
			wire.CodeKeyReused: {data: changed(plain, "key", "report")},
		},
		"appeal": {
			wire.CodeNotFound: {data: plain},
			wire.CodeConflict: {data: changed(plain, "report", s.reported)}, // nothing is decided yet
			wire.CodeTooLong:  {data: changed(plain, "text", long(501))},
		},
		"cancel_packet": {wire.CodePacketFinished: {data: mine}},
	}[method][code]
	return p, ok
}

func make51() (users []string) {
	for i := range 51 {
		users = append(users, fmt.Sprint("u", i))
	}
	return users
}

// TestEveryErrorOfEveryCommand causes, over a socket, each error that the table of commands names. An error for which
// no request is known fails the test.
func TestEveryErrorOfEveryCommand(t *testing.T) {
	t.Parallel()
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		s := newErrorFixture(t, e)
		addr := s.listen(t)
		for _, m := range wire.Methods {
			for _, code := range m.Errors {
				p := s.provocation(m.Name, code)
				if p.data == nil {
					t.Errorf("no test provokes %d %s of %s", code, code.Word(), m.Name)
					continue
				}
				s.mustAnswerWith(t, addr, p.user, m.Name, encoded(t, p.data), code)
			}
			s.mustAnswerWith(t, addr, "", m.Name, []byte(`[]`), wire.CodeBadRequest)
		}
		s.mustAnswerWith(t, addr, "", "no_such_command", []byte(`{}`), wire.CodeUnknownCommand)
		s.failEverything(t, addr, errors.New("nobody has heard of this one"), wire.CodeInternal)
		s.failEverything(t, addr, fmt.Errorf("read: %w: the disk is gone", chat.ErrUnavailable), wire.CodeUnavailable)
	})
}

// failEverything runs every command while the stores fail with the fault. Each must answer with the code.
func (s *errorFixture) failEverything(t *testing.T, addr string, fault error, code wire.Code) {
	t.Helper()
	for _, m := range wire.Methods {
		if m.Name == "push_key" { // it needs no store
			continue
		}
		s.faults.set(fault)
		s.mustAnswerWith(t, addr, "", m.Name, encoded(t, s.request(m.Name, s.rooms["mine"], s.whole)), code)
		s.faults.set(nil)
	}
}

func (s *errorFixture) mustAnswerWith(t *testing.T, addr, user, method string, data json.RawMessage, code wire.Code) {
	t.Helper()
	if user == "" {
		user = "ann"
	}
	got := s.ask(t, addr, user, method, data)
	if got.Code != code || got.Temporary != code.Temporary() {
		t.Errorf("%s %.100s: %d %s, want %d %s", method, data, got.Code, got.Message, code, code.Word())
	}
}
