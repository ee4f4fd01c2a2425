package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// browserSocket is a client on a page.
type browserSocket struct {
	page    *centrifugeJS
	id      int // on its page
	refresh func() (token string, err error)
	diary   *diary
}

// answer is what a function of the page gives.
type answer struct {
	Reply   string      `json:"reply"`
	Refused *wire.Error `json:"refused"`
	Error   string      `json:"error"` // of the SDK's own
}

func (a answer) err() error {
	switch {
	case a.Refused != nil:
		return *a.Refused
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// askPage has a function of the page do something with the client.
func askPage[Answer any](s *browserSocket, function string, arguments ...any) Answer {
	s.page.t.Helper()
	list := jsonText(append([]any{s.id}, arguments...)) // JSON is JavaScript
	return webtest.Ask[Answer](s.page.tab, fmt.Sprintf("driver.%s(...%s)", function, list))
}

func (s *browserSocket) call(method, request string) ([]byte, error) {
	s.page.t.Helper()
	a := askPage[answer](s, "call", method, request)
	return []byte(a.Reply), a.err()
}

func (s *browserSocket) flood(method, request string, refusals int) (all []error) {
	s.page.t.Helper()
	for _, a := range askPage[[]answer](s, "flood", method, request, refusals) {
		all = append(all, a.err())
	}
	return all
}

func (s *browserSocket) send(data string) error {
	s.page.t.Helper()
	return askPage[answer](s, "send", data).err()
}

func (s *browserSocket) native(command, channel string) wire.Error {
	s.page.t.Helper()
	var refused wire.Error
	if err := askPage[answer](s, "native", command, channel).err(); !errors.As(err, &refused) {
		s.page.t.Errorf("%s: %v", command, err)
	}
	return refused
}

// stall stops the page by a request that it waits for.
func (s *browserSocket) stall() (resume func()) {
	s.page.t.Helper()
	began, over := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		close(began)
		<-over
	}))
	resume = sync.OnceFunc(func() {
		close(over)
		server.Close()
	})
	s.page.tab.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("driver.stall(%q)", server.URL)))
	select {
	case <-began:
	case <-time.After(10 * time.Second):
		resume()
		s.page.t.Fatal("the page does not stall")
	}
	return resume
}
