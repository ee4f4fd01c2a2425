package web

import (
	"fmt"
	"testing"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserReports reports a message, a packet and a person, in English and in Chinese. Each report is confirmed by its form, and the page says thank
// you. Only others' messages can be reported.
func TestBrowserReports(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	said := bob.does("send", `"room":%q,"text":"win a prize"`, room).Seq
	packet := bob.does("send_packet", `"room":%q,"total":100,"count":2`, room).Seq
	own := mustSay(t, ann, "hello")
	reports := func(n int) []chat.Report {
		t.Helper()
		all, err := s.store.Reports(t.Context(), chat.ReportQuery{Limit: 10})
		if err != nil || len(all) != n {
			t.Fatalf("the server has %d reports, %v; want %d", len(all), err, n)
		}
		return all
	}
	sheet := func(v *webtest.Visitor, path string) {
		webtest.Ask[string](v.Tab, fmt.Sprintf(`location.hash = '#/room/%s/%s'`, room, path))
	}

	sheet(ann, fmt.Sprint("message/", own))
	ann.Has("button", "Copy text")
	ann.Lacks("button", "Report")
	sheet(ann, fmt.Sprint("message/", said))
	ann.Press("button", "Report")
	ann.Sees("What is wrong with Bob’s message?")
	ann.Press("button", "Cancel")
	ann.Press("button", "Report")
	ann.Press("radio", "Fraud or a scam")
	ann.Fill("Anything to add (optional)", "asks for a deposit")
	reports(0)
	ann.Press("button", "Send report")
	ann.Sees("Thank you. Your report was sent")
	if r := reports(1)[0]; r.Kind != chat.ReportMessage || r.Seq != said || r.Reason != "scam" || r.Text != "asks for a deposit" || r.About != bob.User.ID {
		t.Errorf("the server has %+v", r)
	}
	sheet(ann, fmt.Sprint("message/", packet))
	ann.Press("button", "Report")
	ann.Sees("What is wrong with Bob’s red packet?")
	ann.Press("radio", "Something else")
	ann.Press("button", "Send report")
	ann.Sees("Thank you. Your report was sent")
	if r := reports(2)[1]; r.Kind != chat.ReportPacket || r.Packet == "" || r.Seq != packet {
		t.Errorf("the server has %+v", r)
	}

	chinese := ann.Again(t, page+"/#/room/"+room+"/person/"+bob.User.ID, webtest.Screen{Language: "zh-CN"})
	chinese.Press("button", "举报")
	chinese.Sees("要举报Bob的什么行为？")
	chinese.Press("radio", "辱骂或骚扰")
	chinese.Press("button", "提交举报")
	chinese.Sees("感谢反馈。举报已提交")
	if r := reports(3)[2]; r.Kind != chat.ReportPerson || r.About != bob.User.ID || r.Reason != "abuse" {
		t.Errorf("the server has %+v", r)
	}
}

// TestBrowserAppeals decides two reports. Both users are told, see what was decided, and the one against whom it went objects once.
func TestBrowserAppeals(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	chromium := webtest.Browser(t)
	ann := visitAsGuest(t, chromium, page, "Ann", webtest.Screen{})
	bob := visitAsGuest(t, chromium, page, "Bob", webtest.Screen{}).Again(t, page, webtest.Screen{Phone: true, Language: "zh-CN", Dark: true})
	host := s.httpGuest(t, "Host")
	room := host.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(bob)).Room.ID
	report := func(by, about string) string {
		stored, _, err := s.chat.Report(t.Context(), chat.User{ID: by}, chat.ReportRequest{Room: room, User: about, Reason: "spam", Key: by})
		if err != nil {
			t.Fatal(err)
		}
		return stored.ID
	}
	decide := func(report, outcome, cause string, appeal bool) {
		t.Helper()
		if _, err := s.chat.ResolveReport(t.Context(), chat.Resolution{Report: report, Outcome: outcome, Cause: cause, Appeal: appeal, By: "key/desk"}); err != nil {
			t.Fatal(err)
		}
	}
	ann.Has("link", "Tea")
	bob.Has("link", "Tea")
	first := report(userID(ann), userID(bob))
	decide(first, "acted", "spam", false)
	ann.Sees("There is a decision about your report")
	bob.Sees("有一项针对你的处理")
	bob.Press("button", "查看")
	bob.Sees("你被举报了", "已采取措施：垃圾广告")
	bob.Press("button", "申诉")
	bob.Fill("为什么认为处理有误？", "那是引用别人的话")
	bob.Press("button", "提交申诉")
	bob.Sees("正在复核", "你的申诉：那是引用别人的话")
	bob.Lacks("button", "申诉")

	webtest.Ask[string](ann.Tab, `location.hash = '#/settings'`)
	ann.Press("button", "Reports")
	ann.Sees("You reported somebody", "Spam or advertising", "It is looked at once more")
	decide(first, "dismissed", "no_evidence", true)
	ann.Sees("Nothing was done about it: there is no evidence")
	ann.Lacks("button", "Object") // the report has had its appeal
	bob.Sees("未采取措施：证据不足")
}

// mustSay sends a text on the page, and returns its seq.
func mustSay(t *testing.T, v *webtest.Visitor, text string) int {
	t.Helper()
	v.Press("link", "Tea")
	v.Fill("Message", text)
	v.Key("\r")
	v.Sees(text)
	v.Lacks("image", "Being sent")
	return webtest.Ask[int](v.Tab, `Number([...document.querySelectorAll('.line[data-seq]')].filter((e) => e.querySelector('.text')).at(-1).dataset.seq)`)
}
