package server_test

import (
	"fmt"
	"strings"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

func TestHostPutsManyUsers(t *testing.T) {
	h := newTestHost(t)
	put := func(users string) answer { return h.send(h.all, "POST", "/v1/server/users", `{"users":[`+users+`]}`) }
	var many []string
	for n := range 1000 {
		many = append(many, fmt.Sprintf(`{"user":"u%d","name":"User %d"}`, n, n))
	}
	if users := ok[hostapi.PutUsersReply](h, put(strings.Join(many, ","))).Users; len(users) != 1000 || users[999].Name != "User 999" {
		t.Errorf("%d users, the last is %+v", len(users), users[len(users)-1])
	}
	if act := h.act("put_users"); !strings.Contains(act.Request, `"u99"`) || strings.Contains(act.Request, "User 999") {
		t.Errorf("the act has %.100s, want ids without names", act.Request)
	}
	h.refused(put(strings.Join(append(many, many[0]), ",")), wire.CodeLimitExceeded, "limit_exceeded field=users")
	h.refused(put(""), wire.CodeBadRequest, "bad_request field=users")
	h.refused(put(`{"user":"new","name":"New"},{"user":"bad","name":""}`), wire.CodeBadRequest, "bad_request field=users[1].name")
	h.refused(h.send(h.all, "GET", "/v1/server/users/new", ""), wire.CodeNotFound, "not_found")
}

func TestHostKeepsItsOwnRecordsOfUsers(t *testing.T) {
	h := newTestHost(t)
	put := func(user, body string) answer { return h.send(h.all, "PUT", "/v1/server/users/"+user, body) }
	find := func(body string) []hostapi.User {
		t.Helper()
		return ok[hostapi.PutUsersReply](h, h.send(h.all, "POST", "/v1/server/users/find", body)).Users
	}
	u := ok[hostapi.UserReply](h, put("ann", `{"name":"Ann","ref":"customer-17","custom":{"tier": "gold", "n":[1]}}`)).User
	if u.Ref != "customer-17" || string(u.Custom) != `{"tier":"gold","n":[1]}` {
		t.Errorf("%+v with %s", u, u.Custom)
	}
	h.refused(put("bob", `{"ref":"customer-17"}`), wire.CodeConflict, "conflict field=ref")
	h.refused(put("bob", `{"ref":"with space"}`), wire.CodeBadRequest, "bad_request field=ref")
	h.refused(put("bob", `{"custom":[]}`), wire.CodeBadRequest, "bad_request field=custom")
	h.refused(put("bob", fmt.Sprintf(`{"custom":{"a":%q}}`, strings.Repeat("x", 4096))), wire.CodeTooLong, "too_long field=custom limit=4096")
	ok[hostapi.PutUsersReply](h, h.send(h.all, "POST", "/v1/server/users", `{"users":[{"user":"bob","ref":"customer-18"},{"user":"cid"}]}`))
	h.refused(h.send(h.all, "POST", "/v1/server/users", `{"users":[{"user":"eve","ref":"customer-18"},{"user":"fay","ref":"customer-17"},{"user":"dan"}]}`), wire.CodeConflict, "conflict field=users[0].ref")
	if found := find(`{"users":["cid","unseen"],"refs":["customer-17","customer-99"]}`); len(found) != 2 {
		t.Errorf("found %+v, want ann and cid", found)
	}
	if found := find(`{}`); len(found) != 0 {
		t.Errorf("found %+v for nothing", found)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/users/find", `{"users":["a b"]}`), wire.CodeBadRequest, "bad_request field=users[0]")

	var ids []string
	for next := ""; ; {
		page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?limit=2&next="+next, nil))
		for _, u := range page.Users {
			ids = append(ids, u.ID)
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "ann bob cid dan" {
		t.Errorf("listed %q", got)
	}
	if page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?ref_prefix=customer-", nil)); len(page.Users) != 2 || page.Users[1].ID != "bob" {
		t.Errorf("with the prefix: %+v", page.Users)
	}
	named := func(query string) string {
		t.Helper()
		var found []string
		for _, u := range ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?"+query, nil)).Users {
			found = append(found, u.ID)
		}
		return strings.Join(found, " ")
	}
	if got := named("name=NN&limit=1"); got != "ann" {
		t.Errorf("with NN in the name: %q", got)
	}
	h.refused(h.send(h.all, "GET", "/v1/server/users?name=a&ref_prefix=c", nil), wire.CodeBadRequest, "bad_request field=name")
	h.refused(h.send(h.all, "GET", "/v1/server/users?name="+strings.Repeat("a", 65), nil), wire.CodeTooLong, "too_long field=name limit=64")
	h.refused(h.send(h.all, "GET", "/v1/server/users?nam=ann", nil), wire.CodeBadRequest, "bad_request field=nam")
	h.refused(h.send(h.all, "GET", "/v1/server/users/ann?name=ann", nil), wire.CodeBadRequest, "bad_request field=name")
	h.refused(h.send(h.all, "GET", "/v1/server/users?limit=1&limit=2", nil), wire.CodeBadRequest, "bad_request field=limit")
	h.refused(h.send(h.all, "POST", "/v1/server/users/ann/suspend?reason=a&reason=b", nil), wire.CodeBadRequest, "bad_request field=reason")
	h.refused(h.send(h.all, "GET", "/v1/server/users?next=x", nil), wire.CodeBadRequest, "bad_request field=next")
	if act := h.act("put_user"); strings.Contains(act.Request, "gold") {
		t.Errorf("the act has %s, want it without the custom data", act.Request)
	}
}

func TestHostSuspendsAUser(t *testing.T) {
	h := newTestHost(t)
	h.known("ann")
	suspend := func(key, user, what string) answer {
		return h.send(key, "POST", "/v1/server/users/"+user+"/"+what, nil)
	}
	chatOnly := h.newKey("chat-only", hostapi.Chat)
	h.refused(suspend(chatOnly, "ann", "suspend"), wire.CodeForbidden, "forbidden scope=moderate")
	first := ok[hostapi.UserReply](h, suspend(h.all, "ann", "suspend")).User
	again := ok[hostapi.UserReply](h, suspend(h.all, "ann", "suspend")).User
	if first.SuspendedAt == 0 || again.SuspendedAt != first.SuspendedAt {
		t.Errorf("%+v, then %+v", first, again)
	}
	if act := h.act("suspend_user"); !strings.Contains(act.Request, `"user":"ann"`) {
		t.Errorf("the act is %+v", act)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/ann/wallet", ""), wire.CodeSuspended, "suspended")
	ok[hostapi.UserReply](h, h.send(h.all, "PUT", "/v1/server/users/ann", `{"name":"Ann II"}`))
	if page := ok[hostapi.ListUsersReply](h, h.send(h.all, "GET", "/v1/server/users?suspended=true", nil)); len(page.Users) != 1 || page.Users[0].Name != "Ann II" {
		t.Errorf("suspended are %+v, want ann", page.Users)
	}
	if u := ok[hostapi.UserReply](h, suspend(h.all, "ann", "reinstate")).User; u.SuspendedAt != 0 {
		t.Errorf("reinstated: %+v", u)
	}
	ok[wire.WalletReply](h, h.send(h.all, "POST", "/v1/server/as/ann/wallet", ""))
	h.refused(suspend(h.all, "unseen", "reinstate"), wire.CodeNotFound, "not_found")
	h.refused(suspend(h.all, "a%20b", "suspend"), wire.CodeBadRequest, "bad_request field=user")
}
