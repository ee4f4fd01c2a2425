package server_test

import (
	"fmt"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// TestReports lists, reads and resolves reports.
func TestReports(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob")
	room := ok[wire.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/as/ann/create_room", `{"name":"Tea","key":"r","members":["bob"]}`)).Room.ID
	var ids []string
	for i := range 3 {
		seq := ok[wire.SendReply](h, h.send(h.all, "POST", "/v1/server/as/ann/send", fmt.Sprintf(`{"room":%q,"key":"k%d","text":"hello"}`, room, i))).Seq
		ids = append(ids, h.report(room, seq, fmt.Sprint("report-", i)))
	}
	list := func(query string, want ...string) (next string) {
		t.Helper()
		page := ok[hostapi.ListReportsReply](h, h.send(h.all, "GET", "/v1/server/reports?"+query, ""))
		var got []string
		for _, r := range page.Reports {
			got = append(got, r.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
		return page.Next
	}
	next := list("limit=2", ids[0], ids[1])
	if list("limit=2&after="+next, ids[2]) != "" {
		t.Error("the last page has a next one")
	}
	resolve := "/v1/server/reports/" + ids[1] + "/resolve"
	r := ok[hostapi.ReportReply](h, h.send(h.all, "POST", resolve, `{"outcome":"acted","cause":"abuse","note":"muted"}`)).Report
	if r.State != "resolved" || r.Outcome != "acted" || r.Note != "muted" || r.ResolvedBy != "key/all" || r.ResolvedAt == 0 || r.By != "bob" || r.About != "ann" {
		t.Errorf("resolved: %+v", r)
	}
	ok[hostapi.ReportReply](h, h.send(h.all, "POST", resolve, `{"outcome":"acted","cause":"abuse","note":"muted"}`))
	for what, c := range map[string]struct {
		key, verb, path, body string
		status                int
	}{
		"another outcome":   {h.all, "POST", resolve, `{"outcome":"dismissed","cause":"other"}`, 409},
		"no outcome":        {h.all, "POST", resolve, `{"outcome":"later","cause":"spam"}`, 400},
		"no cause":          {h.all, "POST", resolve, `{"outcome":"acted"}`, 400},
		"a cause of others": {h.all, "POST", resolve, `{"outcome":"acted","cause":"no_breach"}`, 400},
		"an unknown report": {h.all, "GET", "/v1/server/reports/none", "", 404},
		"an unknown state":  {h.all, "GET", "/v1/server/reports?state=lost", "", 400},
	} {
		if a := h.send(c.key, c.verb, c.path, c.body); a.status != c.status {
			t.Errorf("%s: status %d %s, want %d", what, a.status, a.body, c.status)
		}
	}
	list("state=open", ids[0], ids[2])
	list("state=resolved", ids[1])
}
