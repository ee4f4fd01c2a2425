package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// TestHostExportsActs reads what two keys have done, with filters.
func TestHostExportsActs(t *testing.T) {
	h := newTestHost(t)
	shop := h.newKey("shop", hostapi.Money)
	credit := func(key, user string) {
		ok[wire.AdjustReply](h, h.send(key, "POST", "/v1/server/users/"+user+"/credit?reason=test", `{"amount":5,"note":"secret"}`, "Idempotency-Key", user))
	}
	credit(h.all, "ann")
	credit(shop, "ann")
	credit(shop, "bob")
	read := func(query string) (all []string) {
		for after, more := "", true; more; {
			page := get[hostapi.ActsReply](h, "acts?limit=1&after="+after+query)
			for _, a := range page.Acts {
				all = append(all, a.Actor+" "+a.Operation+" "+a.Request)
				if a.Reason != "test" || a.Client == "" || a.RequestID == "" || strings.Contains(a.Request, "secret") {
					t.Errorf("the act is %+v", a)
				}
			}
			after, more = page.Next, page.More
		}
		return all
	}
	ann, annShop, bob := `key/all credit {"amount":5,"user":"ann"}`, `key/shop credit {"amount":5,"user":"ann"}`, `key/shop credit {"amount":5,"user":"bob"}`
	for query, want := range map[string]int{"": 3, "&key=shop": 2, "&user=ann": 2, "&user=ann&key=all": 1, "&user=an": 0} {
		if got := read(query); len(got) != want {
			t.Errorf("acts with %q: %q, want %d", query, got, want)
		}
	}
	if got := read(""); !slices.Contains(got, ann) || !slices.Contains(got, annShop) || !slices.Contains(got, bob) {
		t.Errorf("acts %q", got)
	}
	h.refused(h.send(shop, "GET", "/v1/server/acts", nil), wire.CodeForbidden, "forbidden scope=admin")
	h.refused(h.send(h.all, "GET", "/v1/server/acts?after=forged", nil), wire.CodeBadRequest, "bad_request field=after")
}

// TestLongRequestIDAndReason uses the longest texts that a credit can keep, and longer ones.
func TestLongRequestIDAndReason(t *testing.T) {
	h := newTestHost(t)
	for n, c := range []struct{ id, reason int }{{64, 200}, {65, 200}, {64, 201}} {
		a := h.send(h.all, "POST", "/v1/server/users/ann/credit?reason="+strings.Repeat("r", c.reason), `{"amount":1}`,
			"Idempotency-Key", fmt.Sprint(n), "X-Request-Id", strings.Repeat("i", c.id))
		if c.reason > 200 {
			h.refused(a, wire.CodeTooLong, "too_long field=reason")
			continue
		}
		ok[wire.AdjustReply](h, a)
		if got := a.header.Get("X-Request-Id"); (got == strings.Repeat("i", c.id)) != (c.id <= 64) {
			t.Errorf("an id of %d characters: the answer has %q", c.id, got)
		}
	}
}
