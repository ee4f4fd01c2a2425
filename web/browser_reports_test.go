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
